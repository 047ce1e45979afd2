"""Tests of the windows of long texts."""
