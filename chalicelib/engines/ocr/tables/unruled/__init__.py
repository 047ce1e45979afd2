"""Tables without ruled cells: where they may be, and their places."""
