"""Measures: one function of columns and weights each, with its name card; see `hmeta.metrics.measure`."""
