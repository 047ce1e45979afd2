"""Deletions, the sweep that resumes abandoned work, and the state of the engines."""
