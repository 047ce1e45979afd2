"""Tests of converted networks."""
