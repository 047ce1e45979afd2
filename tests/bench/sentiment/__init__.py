"""Tests of the maintainer's command that fits the head of CommunitySentiment."""
