"""Predictions: labels with probabilities, ordered, and the top N. Spec: Prediction response."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Probability:
    """One label with its probability."""

    label: str
    """Label name."""
    probability: float
    """0 to 1."""


def ordered(items: Iterable[Probability], count: int | None = None) -> tuple[Probability, ...]:
    """Sort by probability, descending, equal ones by label; keep the top `count`."""
    ranked = sorted(items, key=lambda item: (-item.probability, item.label))
    return tuple(ranked if count is None else ranked[:count])
