"""Fits the head (a linear classifier of text vectors), its temperature and its thresholds."""
