"""Deletions, the sweep that ends what nobody owns, and the state of the engines."""
