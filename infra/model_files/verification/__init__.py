"""Compares converted networks with reference outputs of the makers' own code."""
