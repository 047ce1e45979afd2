"""Tests of chalicelib/services/datasets."""
