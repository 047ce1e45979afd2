"""Rules for the source code."""
