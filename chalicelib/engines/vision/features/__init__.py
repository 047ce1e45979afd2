"""Features of images: in shards, in a table, and as they are stored."""
