"""Tests of chalicelib/formats/tokens."""
