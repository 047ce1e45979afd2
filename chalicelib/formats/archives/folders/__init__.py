"""The labels of images in folders: names of folders, and label tables next to them."""
