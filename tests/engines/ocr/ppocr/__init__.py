"""Tests of the PP-OCRv6 engine."""
