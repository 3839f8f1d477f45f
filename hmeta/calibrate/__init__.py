"""Post-hoc maps of confidence: fitted, cross-fitted, saved and applied."""
