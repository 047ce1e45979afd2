"""Views of a picture, their features, crops, and how they are varied."""
