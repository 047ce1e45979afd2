"""Draws forms of many layouts, on which the weights for reading documents are fitted."""
