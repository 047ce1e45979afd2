"""Thresholds of a model for target precisions: `models card --thresholds` and `models check`."""

from __future__ import annotations

from collections.abc import Sequence

from presage.cli.output import percent, table
from presage.errors import ConfigurationError
from presage.records import Card, TargetThreshold


def threshold_lines(card: Card) -> list[str]:
    """Return a table of the card's thresholds."""
    rows = []
    for one in _found(card):
        interval = f"{percent(one.coverage_low)} to {percent(one.coverage_high)}"
        cells = (percent(one.precision), _shown(one), f"{percent(one.coverage)} ({interval})")
        rows.append((*cells, one.label or "all"))
    return table(("PRECISION", "THRESHOLD", "COVERAGE", "LABEL"), rows)


def check_coverage(card: Card, precision: float, coverage: float) -> tuple[list[str], bool]:
    """Return a line per label, and whether all labels reach `coverage` at the target precision.

    Raises:
        ConfigurationError: the card has no thresholds for this precision.
    """
    found = _found(card)
    # Not exact equality, because the option is parsed from decimal text.
    chosen = [one for one in found if abs(one.precision - precision) < 1e-9]
    if not chosen:
        known = ", ".join(f"{value:.2f}" for value in sorted({one.precision for one in found}))
        raise ConfigurationError(f"--precision {precision:g} is not in the card. Use {known}.")
    lines, fails = [], 0
    for one in chosen:
        passes = one.threshold is not None and one.coverage >= coverage
        fails += not passes
        of_label = f"{one.label}: " if one.label else ""
        lines.append(
            f"{'pass' if passes else 'FAIL'}  {of_label}coverage {percent(one.coverage)} at "
            f"threshold {_shown(one)}, wanted {percent(coverage)}"
        )
    return lines, not fails


def _found(card: Card) -> Sequence[TargetThreshold]:
    if not card.thresholds:
        raise ConfigurationError(
            f"The card of model {card.model_id} has no thresholds. Train the model again; prebuilt "
            "models and detection models have none."
        )
    return card.thresholds


def _shown(target: TargetThreshold) -> str:
    return "none" if target.threshold is None else f"{target.threshold:.3f}"
