"""Tests of chalicelib/domain/models."""
