"""Writes the report of a training: metrics, model card and data report."""
