"""Tests of chalicelib/stores/aws."""
