"""Reads PDF documents. Each document is read in a separate process."""
