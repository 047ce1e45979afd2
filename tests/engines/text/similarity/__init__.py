"""Tests of chalicelib/engines/text/similarity."""
