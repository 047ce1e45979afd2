"""Encoders, which convert texts to vectors."""
