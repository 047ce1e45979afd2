"""Tests of chalicelib/domain/accounts."""
