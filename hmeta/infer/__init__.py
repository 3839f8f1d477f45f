"""Runs a plan, diagnoses it, writes the fit and answers estimands.

Nothing is imported here: reading a fit must not load the samplers. Verbs live in the module of their
name, and at the package's root.
"""
