"""Finds the labels of images in archives without boxes, in folder names or label tables."""
