"""Tests of chalicelib/domain/datasets."""
