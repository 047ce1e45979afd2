"""Finds the tables of a page. The entry point is finder.py."""
