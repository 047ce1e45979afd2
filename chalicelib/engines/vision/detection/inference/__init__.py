"""Predicts with a detection model: decoding of outputs, second look, artifact."""
