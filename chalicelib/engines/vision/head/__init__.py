"""A linear head on one vector a picture, and its training."""
