"""Classifies images that have any number of labels each."""
