"""Readers of text uploads: CSV, TSV, Excel and JSON, in different encodings."""
