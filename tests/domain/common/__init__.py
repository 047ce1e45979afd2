"""Tests of chalicelib/domain/jobs."""
