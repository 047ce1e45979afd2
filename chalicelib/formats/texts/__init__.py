"""Uploads of texts: encodings, csv, tsv, JSON."""
