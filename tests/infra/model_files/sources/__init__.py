"""Tests of the readers of published weight formats."""
