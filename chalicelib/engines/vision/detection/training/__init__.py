"""Stages of a training; the numbers in the names of modules give the order."""
