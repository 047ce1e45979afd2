"""Tests of chalicelib/services/templates."""
