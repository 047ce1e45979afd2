"""Writes the report of a training: metrics, card and data report."""
