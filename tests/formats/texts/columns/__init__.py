"""Tests of chalicelib/formats/texts."""
