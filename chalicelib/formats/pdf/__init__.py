"""Reads PDF documents, each in a separate process."""
