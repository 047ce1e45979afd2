"""Labels of images in archives without boxes: from folder names, or tables next to the images."""
