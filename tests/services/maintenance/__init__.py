"""Tests of chalicelib/services/maintenance."""
