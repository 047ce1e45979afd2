"""Tests of domain rules, which use no AWS."""
