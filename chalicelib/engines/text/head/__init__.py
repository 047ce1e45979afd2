"""The head, a linear classifier on the vectors: fit, penalty, temperature, thresholds."""
