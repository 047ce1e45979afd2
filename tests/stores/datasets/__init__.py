"""Tests of chalicelib/stores/datasets."""
