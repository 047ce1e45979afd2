"""Conditions of the workers, which no caller gets as an answer."""

from __future__ import annotations


class TrainingFailed(Exception):
    """The engine cannot learn from these examples; the text names cause and remedy."""


class LeaseLost(Exception):
    """Another worker took the job over, or it was ended; this one must stop writing."""
