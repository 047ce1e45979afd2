"""Tests of chalicelib/engines/vision/linear_head."""
