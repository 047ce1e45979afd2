"""Tests of chalicelib/engines/vision/head."""
