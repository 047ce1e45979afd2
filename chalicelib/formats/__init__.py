"""Readers of uploaded file formats; bytes in, dataclasses out."""
