"""Frozen networks, and the pixels that they take."""
