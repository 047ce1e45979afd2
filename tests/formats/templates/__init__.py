"""Tests of chalicelib/formats/templates."""
