"""Tests of chalicelib/engines/ocr/learning."""
