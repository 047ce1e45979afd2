"""Tests of chalicelib/engines/ocr/layout."""
