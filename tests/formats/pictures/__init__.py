"""Tests of chalicelib/formats/pictures."""
