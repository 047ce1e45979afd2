"""Tests of chalicelib/engines/vision/detection/answering."""
