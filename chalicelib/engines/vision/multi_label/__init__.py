"""Multi-label classification of pictures: any number of labels each."""
