"""Decides by names and content which columns of a table have the texts and the labels."""
