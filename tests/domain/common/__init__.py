"""Tests of chalicelib/domain/common."""
