"""Tests of chalicelib/formats/archives."""
