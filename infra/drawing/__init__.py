"""Draws the images that ship with the product: a sample dataset and the global datasets.

`python -m infra.drawing` writes the images below chalicelib/assets.
"""
