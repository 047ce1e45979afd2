"""Stages of a training; the numbers in their names are their order."""
