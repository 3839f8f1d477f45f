"""Can the software and a design be trusted: simulated answers with a known truth.

Nothing is imported here; verbs live in the module of their name, and at the package's root.
"""
