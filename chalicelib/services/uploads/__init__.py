"""Uploads: accepts files, reads them into examples, issues forms for large files."""
