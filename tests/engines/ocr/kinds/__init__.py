"""Tests of chalicelib/engines/ocr/kinds."""
