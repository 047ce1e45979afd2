"""Draws the images that ship with Presage, for a sample dataset and the global datasets.

`python -m bench.drawing` writes the images below chalicelib/assets.
"""
