"""Tests of packages, their download and their formats."""
