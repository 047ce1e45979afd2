"""Divides long texts into windows; combines the vectors of the windows to one vector per text."""
