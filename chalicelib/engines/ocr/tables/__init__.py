"""Tables of a page: rulings, regions, structure, text, headers. Entry point: finder.py."""
