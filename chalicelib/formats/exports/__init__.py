"""Writes exports of examples, models and tables, and reads exported models."""
