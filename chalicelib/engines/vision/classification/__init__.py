"""Classification of pictures: one label each."""
