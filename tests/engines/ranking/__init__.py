"""Tests of the ranking engine, which uses no AWS."""
