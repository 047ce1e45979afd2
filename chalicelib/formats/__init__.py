"""Readers and writers of file formats. Readers take bytes or files and return dataclasses."""
