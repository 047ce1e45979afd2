"""Learns which texts to answer with an empty list, with background texts as the other side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from chalicelib.engines.text.head.domain import (
    Domain,
    DomainScale,
    anchor_rows,
    answer_support,
    fit_domain,
    fit_scale,
    fit_trust,
    middle,
    scores,
)
from chalicelib.engines.text.head.out_of_domain import score_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints
    from chalicelib.engines.text.head.cross_validation import CrossValidation
    from chalicelib.engines.text.head.layout import Layout, Outside, RowRange


@dataclass(frozen=True, slots=True)
class Rejector:
    """Judges texts by the logit of their answer, nearness and line."""

    domain: Domain
    """Where the training texts lie."""
    scale: DomainScale
    """Makes one score of the witnesses."""
    threshold: float
    """Score below which a text is rejected."""

    @property
    def hears_energy(self) -> bool:
        """Whether it is of an older model, which hears the energy of all logits."""
        return self.scale.usual is None

    def witnesses(self, support: Floats, features: Floats, answers: Ints) -> Doubles:
        """Hear the witnesses.

        Args:
            support: logit of each answer over the temperature, float, shape (texts,).
            features: scaled ones, float, shape (texts, dims).
            answers: label indexes, int, shape (texts,).

        Returns:
            Scaled, float64, shape (texts, 3).
        """
        evidence = self.domain.evidence(features)
        return self.scale.scaled(support.astype(np.float64), evidence, answers)

    def rejects(self, witnesses: Doubles) -> Bools:
        """Say which texts are rejected, float64, shape (texts, 3) to bool, (texts,)."""
        return scores(witnesses) < self.threshold


class LearntRejectors(NamedTuple):
    """One to serve and one to measure with, and what the first does to background texts."""

    served: Rejector
    metric: Rejector
    outside_rejected: int
    """Background texts that it rejects, judged by what did not see them."""
    outside_texts: int
    """How many there were."""
    out_of_fold: Doubles
    """Scaled witnesses on the examples by what did not see them, float64, shape (n, 3)."""


def learn_rejectors(
    layout: Layout,
    outside: Outside | None,
    folds: Sequence[int],
    chosen: CrossValidation,
    rate: float | None,
) -> LearntRejectors | None:
    """Learn where the domain ends.

    The one to measure with saw the training part of the split alone.

    Args:
        layout: the examples.
        outside: the background texts; None: nothing is learnt.
        folds: folds that were held out.
        chosen: the head's choices, with out-of-fold logits.
        rate: share of texts of the domain that may be rejected.
    """
    if outside is None or rate is None or not len(chosen.truth):
        return None
    centre = middle(outside.features)

    def domain(keep: Callable[[RowRange], bool], others: Floats) -> Domain:
        parts = layout.batches(lambda part: not part.is_phrase and keep(part))
        labels = np.concatenate([part.labels for part in parts])
        rows = anchor_rows(labels)
        return fit_domain(np.concatenate([part.features for part in parts])[rows], others, centre)

    pairs = list(_fold_evidence(layout, outside, folds, domain))
    evidence = _Evidence(*(np.concatenate(part) for part in zip(*pairs, strict=True)))
    everything = domain(lambda part: True, outside.features)
    trained = domain(lambda part: not part.is_held, outside.features)
    every = np.ones(len(chosen.truth), bool)
    served, heard = _rejector(everything, evidence, chosen, every, chosen.temperature, rate)
    some = chosen.is_trained if chosen.is_trained.any() else every
    metric, _ = _rejector(trained, evidence, chosen, some, chosen.metric_temperature, rate)
    rejected = int(served.rejects(heard.outside).sum())
    return LearntRejectors(served, metric, rejected, len(heard.outside), heard.held)


class _Evidence(NamedTuple):
    """What is said of texts by what did not see them."""

    held: Doubles
    outside: Doubles


def _fold_evidence(
    layout: Layout,
    outside: Outside,
    folds: Sequence[int],
    domain: Callable[[Callable[[RowRange], bool], Floats], Domain],
) -> Iterator[_Evidence]:
    """Hold out examples and background texts, fold after fold, in the order of the logits."""

    def evidence(fold: int) -> _Evidence | None:
        held = layout.batches(lambda part: part.fold == fold)
        if not held:
            return None
        found = domain(lambda part: part.fold != fold, outside.beside(fold))
        parts = [found.evidence(batch.features) for batch in held]
        return _Evidence(np.concatenate(parts), found.evidence(outside.of(fold)))

    yield from filter(None, map(evidence, folds))


def _rejector(
    domain: Domain,
    evidence: _Evidence,
    chosen: CrossValidation,
    rows: Bools,
    temperature: float,
    rate: float,
) -> tuple[Rejector, _Evidence]:
    """Fit scale, trust and threshold to chosen examples, bool, (n,); and what is said of them."""
    held, outside = evidence.held[rows], chosen.outside_logits
    answers = chosen.logits[rows].argmax(axis=1)
    # The nearest text is a witness of its own: here the head speaks alone.
    support = answer_support(chosen.head_logits[rows], temperature)
    scale = fit_scale(support, held, answers, outside.shape[1])
    heard = _Evidence(
        scale.scaled(support, held, answers),
        scale.scaled(
            answer_support(chosen.outside_head_logits, temperature),
            evidence.outside,
            outside.argmax(axis=1),
        ),
    )
    scale = replace(scale, trust=fit_trust(heard.held, heard.outside))
    return Rejector(domain, scale, score_threshold(scores(heard.held), rate)), heard
