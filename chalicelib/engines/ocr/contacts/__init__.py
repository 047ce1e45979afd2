"""Contacts of a business card, and the same kinds of text anywhere on a page."""
