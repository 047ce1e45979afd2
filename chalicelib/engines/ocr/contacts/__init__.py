"""Finds the contacts of a business card, and the same kinds of text on any page."""
