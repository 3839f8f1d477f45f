"""Measures: one function of columns and weights each, with its card; see `hmeta.metrics.measure`."""
