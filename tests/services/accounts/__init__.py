"""Tests of chalicelib/services/accounts."""
