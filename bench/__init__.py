"""Benchmarks, and commands that generate data files of this repository; not part of releases."""
