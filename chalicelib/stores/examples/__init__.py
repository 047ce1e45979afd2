"""Examples: chunks, indexes of digests and names, images, thumbnails, and parts of uploads."""
