"""Benchmarks, and commands that generate data files of this repository. Not part of releases."""
