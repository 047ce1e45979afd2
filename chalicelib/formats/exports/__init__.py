"""Writes and reads exported files: examples, which can be uploaded again, models and tables."""
