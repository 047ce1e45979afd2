"""The head on the vectors: fit, penalty, temperature, thresholds."""
