"""Features of pictures: in shards, in a table, as they are stored."""
