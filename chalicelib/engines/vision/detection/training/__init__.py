"""The stages of a training, in the order of their names."""
