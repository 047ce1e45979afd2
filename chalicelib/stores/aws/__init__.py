"""What the other stores stand on: clients, tables, the bucket's objects, counters, errors."""
