"""Tests of chalicelib/engines/text/head."""
