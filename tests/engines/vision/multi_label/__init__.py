"""Tests of multi-label images, which use no AWS."""
