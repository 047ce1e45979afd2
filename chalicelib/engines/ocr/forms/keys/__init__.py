"""Where the keys of a template stand on a page."""
