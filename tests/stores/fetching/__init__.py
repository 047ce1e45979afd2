"""Tests of chalicelib/stores/fetching."""
