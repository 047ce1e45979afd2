"""Tests of the prebuilt models."""
