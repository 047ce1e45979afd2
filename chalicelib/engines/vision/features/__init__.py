"""Features of images: in shards, in a table, and as stored."""
