"""Tests of what a start shows."""
