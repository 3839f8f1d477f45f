"""Joins a results file, measures and resampling: tables of measures, tests, the validity screen."""
