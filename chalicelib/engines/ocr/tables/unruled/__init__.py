"""Tables without ruled cells: their regions and their slots."""
