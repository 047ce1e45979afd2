"""The dense head (a network that finds boxes), and the head that classifies crops of boxes."""
