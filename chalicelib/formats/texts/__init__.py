"""Readers of text uploads: encodings, CSV, TSV, Excel and JSON."""
