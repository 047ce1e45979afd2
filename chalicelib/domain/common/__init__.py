"""Shared by all parts of the domain: time, ids, pages of lists, limits."""
