"""Tests of chalicelib/services/uploads."""
