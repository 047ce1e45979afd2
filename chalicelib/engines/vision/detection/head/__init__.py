"""The network that finds boxes (dense head), and the head that classifies crops."""
