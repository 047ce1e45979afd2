"""Tests of chalicelib/engines/vision/detection/proposals."""
