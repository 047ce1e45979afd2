"""Tests of chalicelib/web/operations."""
