"""Text engine: encoders, head, calibration, out-of-domain threshold."""
