"""Predicts with a detection model: decodes outputs, classifies crops again, loads artifacts."""
