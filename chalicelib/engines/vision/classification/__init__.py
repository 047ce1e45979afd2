"""Models of type image: each image has exactly one label."""
