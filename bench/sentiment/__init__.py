"""Fits the head of CommunitySentiment; a command for maintainers, not part of an installation."""
