"""Signed tokens and the keys that sign them."""
