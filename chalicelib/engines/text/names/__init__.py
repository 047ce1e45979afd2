"""Models from names of labels, for labels with few or no examples."""
