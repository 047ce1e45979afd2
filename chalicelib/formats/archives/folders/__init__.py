"""The labels of images in archives of folders: folder names, and label tables next to them."""
