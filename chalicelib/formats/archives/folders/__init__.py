"""The labels of images in archives of folders: from folder names, or tables next to the images."""
