"""Multi-label classification of images: any number of labels each."""
