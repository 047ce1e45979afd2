"""Classifies images that have one label each."""
