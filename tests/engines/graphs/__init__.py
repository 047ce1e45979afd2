"""Tests of chalicelib/engines/graphs."""
