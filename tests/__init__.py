"""Tests; a file mirrors the file it tests."""
