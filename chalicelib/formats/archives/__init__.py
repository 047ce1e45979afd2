"""Zip archives of pictures, and the annotations in them."""
