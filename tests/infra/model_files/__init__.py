"""Tests of model files: sources, conversion, installation."""
