"""Classification of images that have one label each."""
