"""The network that finds boxes, and the head that classifies crops."""
