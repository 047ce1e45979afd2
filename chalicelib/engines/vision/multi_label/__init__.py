"""Classification of images that have any number of labels each."""
