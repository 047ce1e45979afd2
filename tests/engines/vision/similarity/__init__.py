"""Tests of chalicelib/engines/vision/similarity."""
