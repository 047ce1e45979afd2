"""Writers of files with examples, which can be uploaded again: texts and image archives."""
