"""Signed tokens, and the keys of accounts."""
