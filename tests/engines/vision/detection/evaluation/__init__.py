"""Tests of chalicelib/engines/vision/detection/evaluation."""
