"""Files as people bring them, right and broken, with what must become of each."""
