"""Heads of models that were exported elsewhere: checked copies, and trial predictions."""
