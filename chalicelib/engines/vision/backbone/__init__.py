"""Frozen networks, and the preparation of their input."""
