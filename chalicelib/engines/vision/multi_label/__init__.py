"""Models of type image-multi-label: each image has any number of labels."""
