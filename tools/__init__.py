"""Commands of maintainers: draw, fit and generate committed files, and release. Never shipped."""
