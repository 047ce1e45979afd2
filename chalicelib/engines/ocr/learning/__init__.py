"""Fits a form template to documents for which the correct values are known."""
