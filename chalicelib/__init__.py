"""Presage: a text and image prediction service. Holds the version only."""

__version__ = "0.4.0"
