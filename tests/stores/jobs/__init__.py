"""Tests of chalicelib/stores/jobs."""
