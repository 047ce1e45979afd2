"""Divides long texts into windows; the vector of a text is the weighted mean of its windows."""
