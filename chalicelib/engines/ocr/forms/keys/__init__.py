"""Finds the keys of a template on a page."""
