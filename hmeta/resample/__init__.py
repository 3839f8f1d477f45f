"""Resampling as weights: bootstrap, permutation, intervals and corrected p-values."""
