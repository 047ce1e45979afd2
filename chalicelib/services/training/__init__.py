"""Accepts and runs trainings of text and image models, and reads models."""
