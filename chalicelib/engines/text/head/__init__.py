"""The classifier on top of the vectors (head): fit, penalty, temperature, thresholds."""
