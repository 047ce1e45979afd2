"""Zip archives of images, and the annotation files in them."""
