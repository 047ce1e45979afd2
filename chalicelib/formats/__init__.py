"""Readers and writers of file formats; they take bytes and return dataclasses."""
