"""Fits the head of CommunitySentiment: a maintainer's command, no part of an installation."""
