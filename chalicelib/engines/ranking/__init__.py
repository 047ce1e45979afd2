"""Selects the unlabelled samples that are most useful to label next."""
