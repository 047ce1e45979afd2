"""The order in which people read a page: columns, blocks, lines; and the page written down so."""
