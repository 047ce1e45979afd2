"""Trains models from the names of labels, for labels with few or no examples."""
