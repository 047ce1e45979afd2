"""Tests of the template."""
