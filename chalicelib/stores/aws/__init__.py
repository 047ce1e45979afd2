"""What all stores use: AWS clients, tables, objects of the bucket, counters, errors."""
