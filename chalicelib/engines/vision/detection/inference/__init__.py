"""Predictions of a detection model: decoding of the head's outputs, second look, artifact."""
