"""Finds the values of the keys of a template."""
