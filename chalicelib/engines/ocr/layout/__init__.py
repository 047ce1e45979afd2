"""The reading order of a page: columns, blocks, lines; and the page as text in that order."""
