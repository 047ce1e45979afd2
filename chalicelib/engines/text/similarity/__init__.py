"""Texts that say nearly the same: what a split keeps together, and what contradicts."""
