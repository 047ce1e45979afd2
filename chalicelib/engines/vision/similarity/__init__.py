"""Finds near-duplicate images."""
