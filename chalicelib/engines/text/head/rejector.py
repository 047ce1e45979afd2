"""Fits rejectors, which find out-of-domain texts.

The prediction for an out-of-domain text is an empty list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.calibration import energies
from chalicelib.engines.text.head.anchors import anchor_rows, mean_vector
from chalicelib.engines.text.head.domain import Domain, fit_domain
from chalicelib.engines.text.head.domain_score import (
    DomainScale,
    answer_support,
    fit_scale,
    fit_trust,
    scores,
)
from chalicelib.engines.text.head.out_of_domain import rejection_threshold, score_threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Singles
    from chalicelib.engines.text.background import BackgroundFolds
    from chalicelib.engines.text.head.layout import Layout
    from chalicelib.engines.text.head.out_of_fold import CrossValidation
    from chalicelib.engines.text.head.regression import ExampleBatch


@dataclass(frozen=True, slots=True)
class Rejector:
    """Rejects out-of-domain texts, using three numbers per text (signals).

    The signals are the support of the predicted label, the cosine to the nearest training text, and
    the distance from the boundary between training and background texts.
    """

    domain: Domain
    scale: DomainScale
    threshold: float
    """Score below which a text is rejected."""
    samples: Singles | None = None
    """Scaled signals of sample texts of four kinds, n texts of each, float32, shape (4, n, 3).

    Each text was scored by a head that was not trained on it. The kinds are, in this order:
    (1) training texts; (2) training texts, scored by a head trained without similar texts;
    (3) training texts, scored by a head trained without their label; (4) background texts. If no
    texts were withheld from a training, kind 2 has the texts of kind 1, and kind 3 those of
    kind 4. None in older models.
    """

    def signals(self, alone: Singles, logits: Singles, features: Floats) -> Doubles:
        """Return the scaled signals of texts, float64, shape (texts, 3).

        Args:
            alone: logits of the head divided by the temperature, float32, shape (texts, labels).
            logits: `alone` plus the weighted cosines to the nearest training texts, same shape.
            features: scaled features, float, shape (texts, dims).
        """
        evidence = self.domain.evidence(features)
        support = self.scale.support(alone, logits)
        return self.scale.scaled(support, evidence, logits.argmax(axis=1))

    def rejects(self, signals: Doubles) -> Bools:
        """Return whether to reject each text, bool, shape (texts,), given scaled signals."""
        return scores(signals) < self.threshold


class WithheldScores(NamedTuple):
    """Domain scores of training texts, from heads trained without these and similar texts."""

    clusters: Doubles
    """Scores of texts by heads trained without their cluster of similar texts, float64, (n,)."""
    labels: Doubles
    """Scores of texts by heads trained without any text of their label, float64, shape (m,)."""


@dataclass(frozen=True, slots=True)
class FittedRejectors:
    """The rejectors for the finished model and for the metrics, and out-of-fold signals."""

    served_rejector: Rejector
    """Rejector fitted to all examples."""
    metric: Rejector
    """Rejector fitted to the training part of the split only."""
    background: Doubles
    """Scaled signals of the background texts, out of fold, float64, shape (m, 3)."""
    signals: Doubles
    """Scaled signals of the examples, out of fold, float64, shape (n, 3)."""
    withheld: WithheldScores | None = None
    """Scores by models trained without some texts (see `add_margin`); None if there are none."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """How a model rejects texts: by rejectors, or by thresholds for the energy of the logits."""

    rejectors: FittedRejectors | None = None
    """The rejectors; None if background texts, rejection rate or held-out examples are missing."""
    threshold: float = float("-inf")
    """Energy (log-sum-exp of the logits) below which a text is rejected; -infinity for none."""
    metric_threshold: float = float("-inf")
    """Energy below which a text is rejected in the evaluation for the metrics."""


class _Evidence(NamedTuple):
    held_out: Doubles
    background: Doubles


def fit_rejection(
    layout: Layout,
    background: BackgroundFolds | None,
    folds: Sequence[int],
    choice: CrossValidation,
    rate: float | None,
) -> Rejection:
    """Fit the rejectors of a model; if that is not possible, fit thresholds for the energy.

    The energy of a text is the log-sum-exp of its logits.

    Args:
        layout: the examples.
        background: the background texts; if None, energy thresholds are fitted.
        folds: numbers of the folds that were held out.
        choice: results of the cross-validation, with out-of-fold logits.
        rate: fraction of in-domain texts that may be rejected; if None, nothing is rejected.
    """
    if background is not None and rate is not None and len(choice.truth):
        return Rejection(_fit_rejectors(layout, background, folds, choice, rate))
    trained = energies(choice.logits[choice.is_trained], choice.metric_temperature)
    return Rejection(
        threshold=rejection_threshold(energies(choice.logits, choice.temperature), rate),
        metric_threshold=rejection_threshold(trained, rate),
    )


def _fit_rejectors(
    layout: Layout,
    background: BackgroundFolds,
    folds: Sequence[int],
    choice: CrossValidation,
    rate: float,
) -> FittedRejectors:
    centre = mean_vector(background.features)
    parts = [_hold_out(layout, background, fold, centre) for fold in folds]
    found = [part for part in parts if part is not None]
    evidence = _Evidence(*(np.concatenate(part) for part in zip(*found, strict=True)))
    texts = layout.batches(lambda part: not part.is_phrase)
    trained = layout.batches(lambda part: not part.is_phrase and not part.is_held_out)
    every = np.ones(len(choice.truth), bool)
    # The held-out part must not influence the rejector that it is evaluated with.
    some = choice.is_trained if choice.is_trained.any() else every
    served, signals = _fit_rejector(
        _fit_domain(texts, background.features, centre),
        evidence,
        choice,
        every,
        choice.temperature,
        rate,
    )
    metric, _ = _fit_rejector(
        _fit_domain(trained, background.features, centre),
        evidence,
        choice,
        some,
        choice.metric_temperature,
        rate,
    )
    return FittedRejectors(served, metric, signals.background, signals.held_out)


def _hold_out(
    layout: Layout, background: BackgroundFolds, fold: int, centre: Floats
) -> _Evidence | None:
    held = layout.batches(lambda part: part.fold == fold)
    if not held:
        return None
    # Only the other folds, so that no text is compared with itself.
    seen = layout.batches(lambda part: part.fold != fold and not part.is_phrase)
    is_other = background.folds != fold
    domain = _fit_domain(seen, background.features[is_other], centre)
    found = [domain.evidence(batch.features) for batch in held]
    return _Evidence(np.concatenate(found), domain.evidence(background.features[~is_other]))


def _fit_domain(batches: Sequence[ExampleBatch], background: Floats, centre: Floats) -> Domain:
    rows = anchor_rows(np.concatenate([batch.labels for batch in batches]))
    features = np.concatenate([batch.features for batch in batches])[rows]
    return fit_domain(features, background, centre)


def _fit_rejector(
    domain: Domain,
    evidence: _Evidence,
    choice: CrossValidation,
    rows: Bools,
    temperature: float,
    rate: float,
) -> tuple[Rejector, _Evidence]:
    held, background = evidence.held_out[rows], choice.background_logits
    logits = choice.logits[rows]
    answers = logits.argmax(axis=1)
    # Nearness is a separate signal, so the logit in the support is without the nearest texts.
    support = answer_support(choice.head_logits[rows], logits, temperature)
    scale = fit_scale(support, held, answers, background.shape[1])
    other_support = answer_support(choice.background_head_logits, background, temperature)
    signals = _Evidence(
        scale.scaled(support, held, answers),
        scale.scaled(other_support, evidence.background, background.argmax(axis=1)),
    )
    scale = replace(scale, trust=fit_trust(signals.held_out, signals.background))
    return Rejector(domain, scale, score_threshold(scores(signals.held_out), rate)), signals
