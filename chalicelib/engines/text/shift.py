"""Prepares a rejector for users whose texts are worded differently from the examples.

Several heads are trained. Each head leaves out all texts of some labels, and one cluster of similar
texts of every remaining label. The left-out clusters simulate new wordings. The left-out labels
simulate out-of-domain texts that resemble in-domain texts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.text.head.anchors import mean_vector, unit_vectors
from chalicelib.engines.text.head.domain import fit_domain
from chalicelib.engines.text.head.domain_score import answer_support, fit_trust, scores
from chalicelib.engines.text.head.neighbours import add_nearness, fit_neighbours
from chalicelib.engines.text.head.out_of_domain import FEW_TEXTS, round_threshold
from chalicelib.engines.text.head.regression import ExampleBatch, HeadObjective, fit_head
from chalicelib.engines.text.head.rejector import WithheldScores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chalicelib.domain.common.arrays import Bools, Doubles, Ints
    from chalicelib.engines.text.head.out_of_fold import CrossValidation
    from chalicelib.engines.text.head.rejector import FittedRejectors, Rejection, Rejector
    from chalicelib.engines.text.plan import FitPlan

_CLUSTERS = 5
_ROUNDS = 4
_TOLERANCE = 5e-4
# Minimum number of labels; with fewer, too few remain when some are withheld.
_FEWEST_LABELS = 4
# Maximum fraction of the rejected texts of withheld labels that the margin may accept. Chosen on 24
# draws of CLINC150 and BANKING77 with words dropped, misspelt and added.
_MOST_LOST = 0.2
# Average number of texts of a label for the full margin: with as many, clusters show how the
# wording varies. With one text in each cluster, there is no margin.
_TELLING_TEXTS = 20
# Number of sample texts of each kind.
_SAMPLES = 200


class _Withheld(NamedTuple):
    signals: Doubles
    """Scaled signals (see `Rejector`) of each withheld text, float64, shape (n, 3).

    They come from a head trained without the label of the text, or without its cluster of similar
    texts.
    """
    rows: Ints
    """Index of the row of each withheld text in the layout, int, shape (n,)."""
    is_foreign: Bools
    """Whether the whole label of each text was withheld, not just its cluster, bool, shape (n,)."""

    @property
    def scores(self) -> Doubles:
        """Return the domain scores of the withheld texts, float64, shape (n,)."""
        return scores(self.signals)


def add_margin(
    plan: FitPlan, choice: CrossValidation, rejection: Rejection, rate: float | None
) -> Rejection:
    """Lower the rejection thresholds, so that new wordings of users are rejected less often.

    Args:
        plan: features, labels and background texts.
        choice: settings that the cross-validation chose, such as penalty and temperature.
        rejection: rejectors whose thresholds are fitted to the wording of the examples.
        rate: fraction of in-domain texts that may be rejected.
    """
    fitted, texts = rejection.rejectors, len(plan.layout.order)
    if fitted is None or rate is None:
        return rejection
    usual, background = fitted.signals, fitted.background
    fitted = _with_samples(fitted, (usual, usual, background, background))
    rejection = replace(rejection, rejectors=fitted)
    if plan.labels < _FEWEST_LABELS or texts > FEW_TEXTS:
        return rejection
    found = _withhold(plan, choice, fitted.served_rejector)
    if found is None:
        return rejection
    # The held-out part must not influence the rejector that it is evaluated with.
    is_trained = np.isin(plan.layout.order[found.rows], choice.examples[choice.is_trained])
    every, rates = np.ones(len(found.rows), bool), (rate, _most_lost(plan))
    served = _for_users(fitted.served_rejector, found, (usual, background), rates, every)
    metric = _for_users(fitted.metric, found, (usual, background), rates, is_trained)
    clusters, labels = found.signals[~found.is_foreign], found.signals[found.is_foreign]
    withheld = WithheldScores(scores(clusters), scores(labels))
    rejectors = replace(fitted, served_rejector=served, metric=metric, withheld=withheld)
    rejectors = _with_samples(rejectors, (usual, clusters, labels, background))
    return replace(rejection, rejectors=rejectors)


def _with_samples(fitted: FittedRejectors, kinds: Sequence[Doubles]) -> FittedRejectors:
    """Store 200 rows of each array of `kinds` in the served rejector, for later adjustments."""
    if not all(len(one) for one in kinds):
        return fitted
    samples = np.stack([_spread(one) for one in kinds]).astype(np.float32)
    return replace(fitted, served_rejector=replace(fitted.served_rejector, samples=samples))


def _spread(signals: Doubles) -> Doubles:
    """Return 200 rows of `signals`, evenly spaced by rank of domain score, shape (200, 3)."""
    order = np.argsort(scores(signals), kind="stable")
    middles = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    return signals[order[(middles * len(order)).astype(np.int64)]]


def _most_lost(plan: FitPlan) -> float:
    further = len(plan.layout.order) / plan.labels - _CLUSTERS
    return _MOST_LOST * min(1.0, max(0.0, further / (_TELLING_TEXTS - _CLUSTERS)))


def _for_users(
    rejector: Rejector,
    withheld: _Withheld,
    reference: tuple[Doubles, Doubles],
    rates: tuple[float, float],
    rows: Bools,
) -> Rejector:
    """Lower a rejector's threshold, and fit its probability that a text is in the domain.

    Args:
        rejector: the rejector.
        withheld: signals of withheld texts, from heads trained without these and similar texts.
        reference: two arrays of scaled signals, float64: the out-of-fold signals of the examples,
            shape (texts, 3), and the signals of the background texts, shape (m, 3).
        rates: two fractions. The first is the fraction of in-domain texts that may be rejected. The
            second limits how far the threshold is lowered: of the texts of withheld labels that
            were rejected before, at most this fraction may be accepted.
        rows: whether to use each withheld text, bool.
    """
    is_known = rows & ~withheld.is_foreign
    usual, background = reference
    known, foreign = withheld.scores[is_known], withheld.scores[rows & withheld.is_foreign]
    if not len(known) or not len(foreign):
        return rejector
    rate, lost = rates
    cautious = float(np.quantile(known, rate))
    least = float(np.quantile(foreign, (1.0 - lost) * (foreign < rejector.threshold).mean()))
    # Each text as it is, and as if its wording were new: users send both kinds.
    inside = np.concatenate([usual[np.unique(withheld.rows[rows])], withheld.signals[is_known]])
    return replace(
        rejector,
        scale=replace(rejector.scale, trust=fit_trust(inside, background)),
        threshold=min(rejector.threshold, round_threshold(max(cautious, least))),
    )


def _withhold(plan: FitPlan, choice: CrossValidation, rejector: Rejector) -> _Withheld | None:
    layout, texts = plan.layout, len(plan.layout.order)
    labels, clusters = layout.labels[:texts], _clusters(plan)
    groups = np.arange(plan.labels) % _CLUSTERS
    parts = []
    for number in range(_CLUSTERS):
        is_foreign = groups[labels] == number
        is_seen = ~is_foreign & (clusters != number)
        # A label without remaining texts cannot be predicted.
        is_known = np.isin(labels, labels[is_seen]) & ~is_seen & ~is_foreign
        asked = np.flatnonzero(is_foreign | is_known)
        if len(asked) and is_seen.any():
            found = _signals(plan, choice, rejector, np.flatnonzero(is_seen), asked)
            parts.append(_Withheld(found, asked, is_foreign[asked]))
    return (
        _Withheld(*(np.concatenate(part) for part in zip(*parts, strict=True))) if parts else None
    )


def _signals(
    plan: FitPlan, choice: CrossValidation, rejector: Rejector, training_rows: Ints, rows: Ints
) -> Doubles:
    """Train a head on `training_rows`, and return scaled signals for `rows`."""
    layout, background = plan.layout, plan.background
    present, numbers = np.unique(layout.labels[training_rows], return_inverse=True)
    batch = ExampleBatch(layout.features[training_rows], numbers)
    problem = HeadObjective([batch], len(present), choice.penalty_inverse, plan.arithmetic)
    features = layout.features[rows]
    alone = logits = fit_head(problem, None, _TOLERANCE).logits(features)
    if choice.nearness_weight:
        near = fit_neighbours([batch], len(present), 1.0).nearness(features)
        logits = add_nearness(alone, near, choice.nearness_weight)
    domain = rejector.domain
    if background is not None:
        domain = fit_domain(batch.features, background.features, mean_vector(background.features))
    support = answer_support(alone, logits, choice.temperature)
    answers = present[logits.argmax(axis=1)]
    return rejector.scale.scaled(support, domain.evidence(features), answers)


def _clusters(plan: FitPlan) -> Ints:
    """Group similar texts of each label; return the cluster number of each text, int, (texts,)."""
    texts = len(plan.layout.order)
    labels = plan.layout.labels[:texts]
    units = unit_vectors(plan.layout.features[:texts], mean_vector(plan.layout.features[:texts]))
    found = np.zeros(texts, np.int64)
    for label in range(plan.labels):
        rows = np.flatnonzero(labels == label)
        if len(rows):
            # Shifted by label, so that every fold withholds large and small clusters.
            found[rows] = (_cluster(units[rows]) + label // _CLUSTERS) % _CLUSTERS
    return found


def _cluster(units: Doubles) -> Ints:
    """Group unit vectors by the nearest of a few distant centres; return cluster numbers, (n,)."""
    chosen = [int(np.argmin(units @ np.add.reduce(units, axis=0)))]
    while len(chosen) < min(_CLUSTERS, len(units)):
        chosen.append(int(np.argmin((units @ units[chosen].T).max(axis=1))))
    centres = units[chosen]
    found: Ints = (units @ centres.T).argmax(axis=1)
    for _ in range(_ROUNDS):
        sums = [np.add.reduce(units[found == place], axis=0) for place in range(len(centres))]
        centres = unit_vectors(np.array(sums), np.zeros(units.shape[1]))
        found = (units @ centres.T).argmax(axis=1)
    return found
