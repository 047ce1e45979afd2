"""Tests of chalicelib/engines/ocr/mrz."""
