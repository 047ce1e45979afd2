"""Tests of chalicelib/engines/vision/detection/views."""
