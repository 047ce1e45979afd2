"""Tests of chalicelib/engines/text/report."""
