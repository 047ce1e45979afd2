"""Tests of the downloads of packages."""
