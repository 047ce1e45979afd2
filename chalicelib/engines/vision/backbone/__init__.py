"""Loads backbones (networks that are not trained further), and prepares their input."""
