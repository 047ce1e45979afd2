"""Tests of chalicelib/engines/vision/backbone."""
