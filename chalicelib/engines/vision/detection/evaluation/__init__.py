"""Measures the quality of detected boxes."""
