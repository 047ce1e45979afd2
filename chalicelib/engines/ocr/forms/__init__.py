"""Finds the form fields and table headers that a template describes."""
