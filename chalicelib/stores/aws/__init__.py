"""The basis of the other stores: clients, tables, the bucket's objects, counters, errors."""
