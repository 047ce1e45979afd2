"""Stores on the emulated AWS."""
