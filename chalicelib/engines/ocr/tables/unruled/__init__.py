"""Finds tables without ruled cells."""
