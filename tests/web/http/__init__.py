"""Tests of chalicelib/web/http."""
