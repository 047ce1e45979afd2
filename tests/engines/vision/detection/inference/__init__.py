"""Tests of chalicelib/engines/vision/detection/inference."""
