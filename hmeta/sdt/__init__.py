"""Signal detection likelihoods: pure functions on JAX arrays."""
