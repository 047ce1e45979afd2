"""Values that all parts of the domain use: time, ids, pages of lists, limits."""
