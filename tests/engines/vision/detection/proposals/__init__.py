"""Tests of proposed boxes."""
