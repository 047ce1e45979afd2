"""Fits the classifier head of CommunitySentiment. Only maintainers need this command."""
