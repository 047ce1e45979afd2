"""Benchmarks, and the commands with which maintainers make committed data; nothing ships."""
