"""Classification of images: one label each."""
