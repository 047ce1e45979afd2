"""Finds the reading order of a page: columns, blocks and lines. Writes pages as text."""
