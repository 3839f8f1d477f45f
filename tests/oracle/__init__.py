"""Slow independent implementations, from the mathematics alone: hmeta is never imported here."""
