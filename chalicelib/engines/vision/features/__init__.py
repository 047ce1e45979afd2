"""Stores features of images, and reads them for a training."""
