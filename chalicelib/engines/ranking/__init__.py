"""Selects the samples that are most worth labelling."""
