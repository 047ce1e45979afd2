"""Tables without ruled cells: their regions, and their places."""
