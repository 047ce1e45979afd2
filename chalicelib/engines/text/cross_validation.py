"""Chooses the penalty by the log-loss of examples that a head did not see.

See: chalicelib/engines/text/head.py, chalicelib/engines/text/calibration.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines.text.calibration import fit_temperature, tempered_loss
from chalicelib.engines.text.head import Head, HeadProblem, fit_head

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.text.arithmetic import Arithmetic
    from chalicelib.engines.text.layout import Layout, Segment

    Floats = npt.NDArray[np.floating[Any]]
    Ints = npt.NDArray[np.int64]

RISING_PENALTY_INVERSES = (3.0, 10.0, 30.0, 100.0)
"""The values of C that are tried, strongest penalty first, until the log-loss rises."""
STRONGEST_PENALTY_INVERSE = 1.0
"""Tried as well when the first of them is the best."""
_DEFAULT_PENALTY_INVERSE = 10.0
_TOLERANCE = 2e-3


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The choice, and the logits it was made from."""

    penalty_inverse: float
    """The chosen C."""
    temperature: float
    """The best temperature for it."""
    examples: Ints
    """Examples that were held out once, int, shape (n,)."""
    logits: Floats
    """Their scores by heads that did not see them, float32, shape (n, labels)."""
    truth: Ints
    """Their label indexes, int, shape (n,)."""


def cross_validate(
    layout: Layout,
    labels: int,
    folds: Sequence[int],
    arithmetic: Arithmetic,
    on_progress: Callable[[float], None],
) -> CrossValidation:
    """Try the penalties from strong to weak until the log-loss rises.

    Every fold goes on from its head for the stronger penalty.

    Args:
        layout: features with folds.
        labels: number of labels.
        folds: folds to hold out, one after the other.
        arithmetic: how numbers are rounded.
        on_progress: called with the share that is done, from 0 to 1.

    Returns:
        The best choice; C = 10 at temperature 1 when there is nothing to hold out.
    """
    runs = [_Fold(layout, labels, fold, arithmetic) for fold in folds]
    examples = np.concatenate([run.examples for run in runs]) if runs else np.empty(0, np.int64)
    if len(examples) == 0:
        return _default(labels)
    truth = np.concatenate([run.truth for run in runs])

    def tried(penalty_inverse: float) -> tuple[float, CrossValidation]:
        logits = np.concatenate([run.logits(penalty_inverse) for run in runs])
        temperature = fit_temperature(logits, truth)
        loss = tempered_loss(logits, truth, temperature)
        return loss, CrossValidation(penalty_inverse, temperature, examples, logits, truth)

    best_loss, best = float("inf"), _default(labels)
    for place, penalty_inverse in enumerate(RISING_PENALTY_INVERSES):
        loss, candidate = tried(penalty_inverse)
        on_progress((place + 1) / (len(RISING_PENALTY_INVERSES) + 1))
        if loss >= best_loss:
            break
        best_loss, best = loss, candidate
    if best.penalty_inverse == RISING_PENALTY_INVERSES[0]:
        loss, candidate = tried(STRONGEST_PENALTY_INVERSE)
        best = candidate if loss < best_loss else best
    on_progress(1.0)
    return best


def _default(labels: int) -> CrossValidation:
    """The choice when nothing can be held out."""
    nothing = np.empty(0, np.int64)
    logits = np.empty((0, labels), np.float32)
    return CrossValidation(_DEFAULT_PENALTY_INVERSE, 1.0, nothing, logits, nothing)


class _Fold:
    """One fold: its training pieces, its held-out pieces, and the head so far."""

    def __init__(self, layout: Layout, labels: int, fold: int, arithmetic: Arithmetic) -> None:
        def is_out(part: Segment) -> bool:
            return part.fold == fold

        self._training = layout.pieces(lambda part: not is_out(part))
        self._held = layout.pieces(is_out)
        self._labels = labels
        self._arithmetic = arithmetic
        self._head: Head | None = None
        self.examples = layout.examples(is_out)
        truths = [piece.labels for piece in self._held]
        self.truth = np.concatenate(truths) if truths else np.empty(0, np.int64)

    def logits(self, penalty_inverse: float) -> npt.NDArray[np.float32]:
        """Scores of the held-out examples, float32, shape (n, labels)."""
        problem = HeadProblem(self._training, self._labels, penalty_inverse, self._arithmetic)
        self._head = fit_head(problem, self._head, _TOLERANCE)
        scores = [self._head.logits(piece.features) for piece in self._held]
        empty = np.empty((0, self._labels), np.float32)
        return np.concatenate([empty, *scores]).astype(np.float32)
