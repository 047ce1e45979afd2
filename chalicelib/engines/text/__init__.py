"""Text classification: encoders, a linear head, calibration, rejection of out-of-domain texts."""
