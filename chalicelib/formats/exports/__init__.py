"""Writes and reads exports: examples (as files that can be uploaded again), models and tables."""
