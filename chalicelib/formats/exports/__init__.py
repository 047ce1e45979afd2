"""Writers of examples as files that can be uploaded again: texts and archives of images."""
