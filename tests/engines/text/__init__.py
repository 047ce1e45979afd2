"""Tests of the text engine, which uses no AWS."""
