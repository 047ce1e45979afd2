"""Draws the pictures that the product ships: a sample data set and the global ones.

`python -m infra.drawing` writes them again below chalicelib/assets.
"""
