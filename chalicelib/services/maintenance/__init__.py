"""Deletions, the sweep of abandoned work, and the state of the engines."""
