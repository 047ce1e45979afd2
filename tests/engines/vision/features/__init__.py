"""Tests of chalicelib/engines/vision/features."""
