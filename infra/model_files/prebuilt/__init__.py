"""Builds the models that every account may use without training."""
