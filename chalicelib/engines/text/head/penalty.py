"""Chooses the penalty of the head by the log-loss on held-out examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.calibration import fit_temperature, tempered_loss
from chalicelib.engines.text.head.regression import HeadObjective, SoftmaxHead, fit_head

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles
    from chalicelib.engines.arithmetic import Arithmetic
    from chalicelib.engines.text.head.layout import HeldOutFold, HeldOutFolds


# Values of C, strongest penalty first; the search ends when the log-loss rises.
RISING_PENALTY_INVERSES = (3.0, 10.0, 30.0, 100.0)
# Only tried if the first of the other values is the best.
STRONGEST_PENALTY_INVERSE = 1.0
# Losses within this relative difference count as equal. Of these, the weakest penalty is chosen,
# because the served head is trained on more examples than the compared heads.
EQUAL_LOSS = 0.005
# Mean log-loss below which no penalty can gain anything.
NEGLIGIBLE_LOSS = 1e-3
# Coarser than the final fit: only the order of the losses matters here.
_TOLERANCE = 2e-3
# Parts of the progress: the search, then the other folds with the chosen penalty.
_SEARCH_PART, _REST_PART = 0.7, 0.3


class FoldScores(NamedTuple):
    """Logits of the texts in a fold, from a head that was trained without these texts."""

    held_out: Singles
    """Logits of the held-out examples, float32, shape (n, labels)."""
    background: Singles
    """Logits of the fold's background texts, float32, shape (m, labels)."""


@dataclass(frozen=True, slots=True)
class PenaltyChoice:
    """The chosen penalty, and the logits of every fold with this penalty."""

    penalty_inverse: float
    """The chosen inverse penalty C."""
    scores: Sequence[FoldScores]
    """Logits of each fold, in the order of the folds."""


def choose_penalty(
    choosing: HeldOutFolds,
    all_folds: HeldOutFolds,
    labels: int,
    arithmetic: Arithmetic,
    on_progress: Callable[[float], None],
) -> PenaltyChoice:
    """Try penalties from strong to weak, until the log-loss increases; return the best penalty.

    Args:
        choosing: the first folds of `all_folds`. The penalty is chosen by their log-loss.
        all_folds: the folds. For folds that are not in `choosing`, heads are fitted with the chosen
            penalty only.
        labels: number of labels.
        arithmetic: rounds the numbers of a fit.
        on_progress: called with the fraction of the work that is done, from 0 to 1.
    """
    heads = [_FoldHead(fold, labels, arithmetic) for fold in all_folds.folds]
    first, rest = heads[: len(choosing.folds)], heads[len(choosing.folds) :]
    best, scores = _search(first, choosing, lambda part: on_progress(_SEARCH_PART * part))
    for place, head in enumerate(rest, 1):
        scores.append(head.fit_and_score(best))
        on_progress(_SEARCH_PART + _REST_PART * place / len(heads))
    on_progress(1.0)
    return PenaltyChoice(best, scores)


def _search(
    heads: Sequence[_FoldHead], folds: HeldOutFolds, on_progress: Callable[[float], None]
) -> tuple[float, list[FoldScores]]:
    truth = folds.truth[folds.may_choose]

    def score(penalty_inverse: float) -> tuple[float, list[FoldScores]]:
        parts = [head.fit_and_score(penalty_inverse) for head in heads]
        logits = np.concatenate([part.held_out for part in parts])[folds.may_choose]
        return tempered_loss(logits, truth, fit_temperature(logits, truth)), parts

    best, best_loss, best_parts = RISING_PENALTY_INVERSES[0], float("inf"), []
    for place, penalty_inverse in enumerate(RISING_PENALTY_INVERSES):
        loss, parts = score(penalty_inverse)
        on_progress((place + 1) / (len(RISING_PENALTY_INVERSES) + 1))
        if loss > best_loss * (1.0 + EQUAL_LOSS):
            break
        best, best_loss, best_parts = penalty_inverse, min(loss, best_loss), parts
        if loss < NEGLIGIBLE_LOSS:
            return best, best_parts
    if best == RISING_PENALTY_INVERSES[0]:
        loss, parts = score(STRONGEST_PENALTY_INVERSE)
        if loss < best_loss:
            best, best_parts = STRONGEST_PENALTY_INVERSE, parts
    return best, best_parts


class _FoldHead:
    """Fits the head of one fold with several penalties. Each fit starts from the last result."""

    def __init__(self, fold: HeldOutFold, labels: int, arithmetic: Arithmetic) -> None:
        self._fold = fold
        self._labels = labels
        self._arithmetic = arithmetic
        self._head: SoftmaxHead | None = None

    def fit_and_score(self, penalty_inverse: float) -> FoldScores:
        """Fit the head with the given inverse penalty; return the logits of the held-out texts."""
        fold, empty = self._fold, np.empty((0, self._labels), np.float32)
        problem = HeadObjective(fold.training, self._labels, penalty_inverse, self._arithmetic)
        self._head = head = fit_head(problem, self._head, _TOLERANCE)
        held = [head.logits(batch.features) for batch in fold.held_out]
        background = [] if fold.background is None else [head.logits(fold.background)]
        return FoldScores(
            np.concatenate([empty, *held]).astype(np.float32),
            np.concatenate([empty, *background]).astype(np.float32),
        )
