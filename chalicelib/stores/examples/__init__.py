"""Examples: chunks, digests, names, images, thumbnails and parts that wait for vectors."""
