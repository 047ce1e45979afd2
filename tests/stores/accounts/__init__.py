"""Tests of chalicelib/stores/accounts."""
