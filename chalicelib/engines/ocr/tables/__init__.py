"""Tables on a read page: rulings, regions, structure, text, headers. Entry: finder.py."""
