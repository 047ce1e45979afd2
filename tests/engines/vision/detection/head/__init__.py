"""Tests of chalicelib/engines/vision/detection/head."""
