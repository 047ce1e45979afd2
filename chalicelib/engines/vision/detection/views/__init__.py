"""Views of an image: their features, crops, and augmentation."""
