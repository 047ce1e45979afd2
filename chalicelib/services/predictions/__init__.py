"""Predictions for texts and images, and reading of documents."""
