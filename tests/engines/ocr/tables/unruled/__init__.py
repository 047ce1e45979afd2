"""Tests of chalicelib/engines/ocr/tables/unruled."""
