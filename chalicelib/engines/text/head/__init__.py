"""The head (a linear classifier of text vectors): its fit, penalty, temperature, thresholds."""
