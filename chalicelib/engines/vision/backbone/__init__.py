"""Frozen networks (backbones), and the preparation of their input."""
