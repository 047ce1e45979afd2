"""Tests of chalicelib/services/training."""
