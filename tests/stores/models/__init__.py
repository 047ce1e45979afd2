"""Tests of chalicelib/stores/models."""
