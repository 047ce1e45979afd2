"""Predicts with a detection model: loads the model, decodes outputs, classifies crops of boxes."""
