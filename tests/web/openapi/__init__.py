"""Tests of chalicelib/web/openapi."""
