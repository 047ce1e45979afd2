"""Tests of chalicelib/engines/text/encoding."""
