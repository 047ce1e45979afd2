"""Tests of chalicelib/services/predictions."""
