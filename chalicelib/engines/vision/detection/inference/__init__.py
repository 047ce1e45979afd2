"""Predicts with a detection model: loads it, decodes outputs, and classifies crops of boxes."""
