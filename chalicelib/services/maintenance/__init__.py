"""Deletions, the periodic sweep that resumes abandoned work, and the state of the engines."""
