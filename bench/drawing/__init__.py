"""Draws the images that ship with Presage: those of a sample dataset and the global datasets.

`python -m bench.drawing` writes the images below chalicelib/assets.
"""
