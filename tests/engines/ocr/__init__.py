"""Tests of chalicelib/engines/ocr."""
