"""Readers and writers of file formats. Readers take bytes or open files, and return dataclasses."""
