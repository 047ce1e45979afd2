"""Tests of chalicelib/engines/ocr/forms/values."""
