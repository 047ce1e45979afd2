"""Stages of a detection training. They run in the order of the numbers in the module names."""
