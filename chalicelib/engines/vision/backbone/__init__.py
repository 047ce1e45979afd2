"""Backbones (networks that are not trained further), and the preparation of their input."""
