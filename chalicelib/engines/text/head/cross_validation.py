"""Chooses the penalty by the log-loss of examples that a head did not see.

Whatever the metrics depend on, penalty and temperature, is chosen by the outcomes of the training
part alone. The heads of the folds do learn from held-out texts of other folds: without them a fifth
fewer examples would stand behind the data report, which would find fewer errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.arithmetic import EXACT_EXAMPLES
from chalicelib.engines.calibration import fit_temperature, tempered_loss
from chalicelib.engines.text.head.neighbours import (
    add_nearness,
    choose_weight,
    fit_neighbours,
    likely,
)
from chalicelib.engines.text.head.regression import HeadObjective, SoftmaxHead, fit_head

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints, Singles
    from chalicelib.engines.arithmetic import Arithmetic
    from chalicelib.engines.text.head.layout import Layout, Outside, RowRange


RISING_PENALTY_INVERSES = (3.0, 10.0, 30.0, 100.0)
"""The values of C that are tried, strongest penalty first, until the log-loss rises."""
STRONGEST_PENALTY_INVERSE = 1.0
"""Tried as well when the first of them is the best."""
CHOOSING_EXAMPLES = 2_000
"""Above this many examples one fold chooses the penalty for all, which is enough to tell."""
EQUAL_LOSS = 0.005
"""By so little of itself a loss may rise before it counts as risen: of equals the weakest penalty
is taken, since the served head learns from more examples than those that are compared."""
NEGLIGIBLE_LOSS = 1e-3
"""A mean log-loss at which nothing is left to gain: the search ends."""
_DEFAULT_PENALTY_INVERSE = 10.0
_TOLERANCE = 2e-3


@dataclass(frozen=True, slots=True)
class CrossValidation:
    """The choice, and the logits it was made from."""

    penalty_inverse: float
    """The chosen C."""
    temperature: float
    """The best temperature for it."""
    metric_temperature: float
    """The best one for the training part of the split alone."""
    examples: Ints
    """Examples that were held out once, int, shape (n,)."""
    logits: Singles
    """Their scores by heads that did not see them, float32, shape (n, labels)."""
    truth: Ints
    """Their label indexes, int, shape (n,)."""
    is_trained: Bools
    """Which of them are of the training part of the split, bool, shape (n,)."""
    outside_logits: Singles
    """Scores of the background texts, fold after fold, float32, shape (m, labels)."""
    head_logits: Singles
    """The logits without what the nearest text of each label adds, float32, (n, labels)."""
    outside_head_logits: Singles
    """The same of the background texts, float32, shape (m, labels)."""
    nearness_weight: float = 0.0
    """What that text adds; 0: it is not heard."""


def cross_validate(
    layout: Layout,
    labels: int,
    folds: Sequence[int],
    arithmetic: Arithmetic,
    on_progress: Callable[[float], None],
    outside: Outside | None = None,
) -> CrossValidation:
    """Try the penalties from strong to weak until the log-loss rises.

    Every fold goes on from its head for the stronger penalty.

    Args:
        layout: features with folds.
        labels: number of labels.
        folds: folds to hold out, one after the other.
        arithmetic: how numbers are rounded.
        on_progress: called with the share that is done, from 0 to 1.
        outside: background texts, which the heads of their folds score, too.

    Returns:
        The best choice; C = 10 at temperature 1 when there is nothing to hold out.
    """
    runs = [_Fold(layout, labels, fold, arithmetic, outside) for fold in folds]
    runs = [run for run in runs if len(run.truth)]
    if not runs:
        return _default(labels)
    choosing = runs[:1] if len(layout.order) > CHOOSING_EXAMPLES else runs
    penalty_inverse, scores = _choose(choosing, lambda share: on_progress(0.7 * share))
    for place, run in enumerate(runs[len(choosing) :], 1):
        scores.append(run.scores(penalty_inverse))
        on_progress(0.7 + 0.3 * place / len(runs))
    on_progress(1.0)
    near = None
    if len(layout.order) <= EXACT_EXAMPLES and len(runs) > 1:
        near = _with_neighbours(runs, scores)
    return _calibrated(penalty_inverse, runs, scores, near)


class _Heard(NamedTuple):
    """What the nearest text of each label counts, and the scores of every fold with it."""

    weight: float
    scores: list[_Scores]


def _with_neighbours(runs: Sequence[_Fold], scores: Sequence[_Scores]) -> _Heard | None:
    """Weigh the nearest texts; None where they are not worth it."""
    near = [run.nearness(part) for run, part in zip(runs, scores, strict=True)]
    truth = np.concatenate([run.truth for run in runs])
    chosen = _choosing(np.concatenate([run.is_trained for run in runs]))
    pairs = list(zip(scores, near, strict=True))

    def loss_with(weight: float) -> float:
        parts = [add_nearness(part.held, found.held, weight) for part, found in pairs]
        logits = np.concatenate(parts)[chosen]
        return tempered_loss(logits, truth[chosen], fit_temperature(logits, truth[chosen]))

    weight = choose_weight(loss_with, int(chosen.sum()))
    if not weight:
        return None
    heard = [
        _Scores(
            np.asarray(add_nearness(part.held, found.held, weight), np.float32),
            np.asarray(add_nearness(part.outside, found.outside, weight), np.float32),
        )
        for part, found in pairs
    ]
    return _Heard(weight, heard)


def _choose(
    runs: Sequence[_Fold], on_progress: Callable[[float], None]
) -> tuple[float, list[_Scores]]:
    """Return the best C and the scores of every fold for it."""
    truth = np.concatenate([run.truth for run in runs])
    chosen = _choosing(np.concatenate([run.is_trained for run in runs]))

    def tried(penalty_inverse: float) -> tuple[float, list[_Scores]]:
        parts = [run.scores(penalty_inverse) for run in runs]
        logits = np.concatenate([part.held for part in parts])[chosen]
        temperature = fit_temperature(logits, truth[chosen])
        return tempered_loss(logits, truth[chosen], temperature), parts

    best, best_loss, best_parts = RISING_PENALTY_INVERSES[0], float("inf"), []
    for place, penalty_inverse in enumerate(RISING_PENALTY_INVERSES):
        loss, parts = tried(penalty_inverse)
        on_progress((place + 1) / (len(RISING_PENALTY_INVERSES) + 1))
        if loss > best_loss * (1.0 + EQUAL_LOSS):
            break
        best, best_loss, best_parts = penalty_inverse, min(loss, best_loss), parts
        if loss < NEGLIGIBLE_LOSS:
            return best, best_parts
    if best == RISING_PENALTY_INVERSES[0]:
        loss, parts = tried(STRONGEST_PENALTY_INVERSE)
        if loss < best_loss:
            best, best_parts = STRONGEST_PENALTY_INVERSE, parts
    return best, best_parts


def _calibrated(
    penalty_inverse: float, runs: Sequence[_Fold], scores: Sequence[_Scores], near: _Heard | None
) -> CrossValidation:
    """Fit both temperatures to the scores of the chosen penalty."""
    heard = scores if near is None else near.scores
    logits = np.concatenate([part.held for part in heard])
    truth = np.concatenate([run.truth for run in runs])
    is_trained = np.concatenate([run.is_trained for run in runs])
    chosen = _choosing(is_trained)
    return CrossValidation(
        penalty_inverse=penalty_inverse,
        temperature=fit_temperature(logits, truth, _doubt(len(truth))),
        metric_temperature=fit_temperature(
            logits[chosen], truth[chosen], _doubt(int(chosen.sum()))
        ),
        examples=np.concatenate([run.examples for run in runs]),
        logits=logits,
        truth=truth,
        is_trained=is_trained,
        outside_logits=np.concatenate([part.outside for part in heard]),
        head_logits=np.concatenate([part.held for part in scores]),
        outside_head_logits=np.concatenate([part.outside for part in scores]),
        nearness_weight=0.0 if near is None else near.weight,
    )


def _choosing(is_trained: Bools) -> Bools:
    """Examples that may choose: those of the training part, or all when it has none."""
    return is_trained if is_trained.any() else np.ones_like(is_trained)


def _doubt(examples: int) -> float:
    """Chance that the next answer is wrong after so many right ones: the rule of succession's.

    Without it a few examples that are all answered rightly would make every answer certain.
    """
    return 1.0 / (examples + 2)


def _default(labels: int) -> CrossValidation:
    nothing = np.empty(0, np.int64)
    logits = np.empty((0, labels), np.float32)
    return CrossValidation(
        penalty_inverse=_DEFAULT_PENALTY_INVERSE,
        temperature=1.0,
        metric_temperature=1.0,
        examples=nothing,
        logits=logits,
        truth=nothing,
        is_trained=np.empty(0, bool),
        outside_logits=logits,
        head_logits=logits,
        outside_head_logits=logits,
    )


class _Scores(NamedTuple):
    """What the head of a fold says."""

    held: Singles
    """Of the held-out examples, float32, shape (n, labels)."""
    outside: Singles
    """Of the background texts of the fold, float32, shape (m, labels)."""


class _Fold:
    """One fold: its training pieces, its held-out pieces, and the head so far."""

    def __init__(
        self,
        layout: Layout,
        labels: int,
        fold: int,
        arithmetic: Arithmetic,
        outside: Outside | None,
    ) -> None:
        def is_out(part: RowRange) -> bool:
            return part.fold == fold

        self._training = layout.batches(lambda part: not is_out(part))
        self._held = layout.batches(is_out)
        self._texts = layout.batches(lambda part: not is_out(part) and not part.is_phrase)
        self._labels = labels
        self._arithmetic = arithmetic
        self._head: SoftmaxHead | None = None
        self._outside = None if outside is None else outside.of(fold)
        self.examples = layout.examples(is_out)
        trained = layout.examples(lambda part: is_out(part) and not part.is_held)
        self.is_trained = np.isin(self.examples, trained)
        truths = [batch.labels for batch in self._held]
        self.truth = np.concatenate(truths) if truths else np.empty(0, np.int64)

    def scores(self, penalty_inverse: float) -> _Scores:
        """Fit for a penalty and score what was held out."""
        problem = HeadObjective(self._training, self._labels, penalty_inverse, self._arithmetic)
        self._head = fit_head(problem, self._head, _TOLERANCE)
        held = [self._head.logits(batch.features) for batch in self._held]
        outside = [] if self._outside is None else [self._head.logits(self._outside)]
        return _Scores(self._joined(held), self._joined(outside))

    def nearness(self, scores: _Scores) -> _Scores:
        """Look for the nearest texts of likely labels, among those that the head saw."""
        near = fit_neighbours(self._texts, self._labels, 1.0)
        held = np.concatenate([batch.features for batch in self._held])
        outside = self._outside
        if outside is None:
            return _Scores(near.nearness(held, likely(scores.held)), scores.outside)
        return _Scores(
            near.nearness(held, likely(scores.held)),
            near.nearness(outside, likely(scores.outside)),
        )

    def _joined(self, parts: Sequence[Floats]) -> Singles:
        empty = np.empty((0, self._labels), np.float32)
        return np.concatenate([empty, *parts]).astype(np.float32)
