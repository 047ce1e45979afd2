"""Determines the reading order of a page: columns, blocks, lines; and writes pages as text."""
