"""Tests of chalicelib/engines/ocr/contacts."""
