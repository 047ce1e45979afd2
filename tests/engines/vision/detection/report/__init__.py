"""Tests of chalicelib/engines/vision/detection/report."""
