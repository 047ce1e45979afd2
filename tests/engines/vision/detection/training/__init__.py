"""Tests of chalicelib/engines/vision/detection/training."""
