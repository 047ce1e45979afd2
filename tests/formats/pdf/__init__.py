"""Tests of chalicelib/formats/pdf."""
