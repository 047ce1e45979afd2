"""Datasets, examples and uploads."""
