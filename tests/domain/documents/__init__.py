"""Tests of chalicelib/domain/documents."""
