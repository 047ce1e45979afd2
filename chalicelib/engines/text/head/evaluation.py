"""Judges a head on the two sides of the split; the numbers behind metrics and learning curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.calibration import energies, probabilities
from chalicelib.engines.interface import PrecisionRecallCurve, TextMetrics
from chalicelib.engines.text.head.domain import answer_support
from chalicelib.engines.text.head.neighbours import add_nearness

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints, Singles
    from chalicelib.engines.text.head.regression import ExampleBatch, SoftmaxHead
    from chalicelib.engines.text.head.rejector import Rejector


_CHUNK_ROWS = 4_096


@dataclass(frozen=True, slots=True)
class SplitEvaluator:
    """What stays the same from epoch to epoch: both sides, temperature and threshold."""

    label_names: Sequence[str]
    """Labels in the dataset's order."""
    training: Sequence[ExampleBatch]
    """Training part of the split, without label phrases."""
    held: Sequence[ExampleBatch]
    """Held-out part of the split."""
    temperature: float
    """The logits are divided by it."""
    threshold: float
    """Energy below which a text is rejected."""
    may_reject: bool
    """Whether the confusion matrix has an out-of-domain row and column."""
    rejector: Rejector | None = None
    """Judges texts in place of the threshold."""
    evidence: Mapping[int, Doubles] = field(default_factory=dict)
    """What its domain says of each piece, by the piece's `id`, since no epoch changes it."""
    nearness_weight: float = 0.0
    """What the nearest text of each label adds to the logits."""
    nearness: Mapping[int, Singles] = field(default_factory=dict)
    """Nearness of each label's texts, by the piece's `id`, float32, shape (examples, labels)."""

    def metrics(self, head: SoftmaxHead) -> TextMetrics:
        """Measure a head on both sides."""
        trained, tested = self._side(head, self.training), self._side(head, self.held)
        labels = len(self.label_names)
        size = labels + 1 if self.may_reject else labels
        matrix = metrics.confusion_matrix(tested.truth, tested.answers, size)
        scores = metrics.label_scores(matrix, labels)
        return TextMetrics(
            labels=list(self.label_names),
            f1=metrics.rounded(scores.f1),
            precision=metrics.rounded(scores.precision),
            recall=metrics.rounded(scores.recall),
            macro_f1=round(metrics.macro_f1(matrix, labels), 6),
            test_accuracy=round(tested.accuracy(), 6),
            training_accuracy=round(trained.accuracy(), 6),
            test_loss=round(tested.loss, 6),
            training_loss=round(trained.loss, 6),
            confusion_matrix=matrix.tolist(),
        )

    def scores(self, head: SoftmaxHead) -> tuple[Singles, Ints]:
        """Held-out probabilities, float32, (examples, labels), and truth, int, (examples,)."""
        parts = list(self._probabilities(head, self.held))
        empty = np.empty((0, len(self.label_names)), np.float32)
        truths = [np.empty(0, np.int64), *(part.truth for part in parts)]
        return np.concatenate([empty, *(part.shares for part in parts)]), np.concatenate(truths)

    def _side(self, head: SoftmaxHead, batches: Sequence[ExampleBatch]) -> _Side:
        """Answers and loss on one side; only one chunk's probabilities exist at a time."""
        truths, answers, losses = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0.0
        for part in self._probabilities(head, batches):
            truths.append(part.truth)
            answers.append(np.where(part.is_rejected, len(self.label_names), part.answers))
            losses += metrics.log_loss(part.shares, part.truth) * len(part.truth)
        truth = np.concatenate(truths)
        return _Side(truth, np.concatenate(answers), losses / max(len(truth), 1))

    def _probabilities(self, head: SoftmaxHead, batches: Sequence[ExampleBatch]) -> Iterator[_Part]:
        """Answer the pieces chunk by chunk."""
        for batch in batches:
            for first in range(0, len(batch.labels), _CHUNK_ROWS):
                alone = logits = head.logits(batch.features[first : first + _CHUNK_ROWS])
                near = self.nearness.get(id(batch))
                if near is not None:
                    some_near = near[first : first + _CHUNK_ROWS]
                    logits = add_nearness(alone, some_near, self.nearness_weight)
                evidence = self.evidence.get(id(batch))
                some = None if evidence is None else evidence[first : first + _CHUNK_ROWS]
                shares, is_rejected = self._judged(logits, alone, some)
                truth = batch.labels[first : first + _CHUNK_ROWS]
                yield _Part(shares, shares.argmax(axis=1), is_rejected, truth)

    def _judged(
        self, logits: Floats, alone: Floats, evidence: Doubles | None
    ) -> tuple[Singles, Bools]:
        """Probabilities and rejections, as they are served.

        Args:
            logits: with what the nearest texts add, float, shape (examples, labels).
            alone: of the head alone, float, same shape.
            evidence: of the rejector's domain, float64, shape (examples, 2).
        """
        shares = probabilities(logits, self.temperature)
        if not self.may_reject:
            return shares, np.zeros(len(logits), bool)
        if self.rejector is None or evidence is None:
            return shares, energies(logits, self.temperature) < self.threshold
        support = answer_support(alone, self.temperature)
        witnesses = self.rejector.scale.scaled(support, evidence, logits.argmax(axis=1))
        cautious = self.rejector.scale.cautious(shares, witnesses)
        return cautious, self.rejector.rejects(witnesses)


@dataclass(frozen=True, slots=True)
class _Part:
    """Answers to one chunk."""

    shares: Singles
    """Probabilities, float32, shape (examples, labels)."""
    answers: Ints
    """Most probable labels, int, shape (examples,)."""
    is_rejected: Bools
    """Whether out of domain, bool, shape (examples,)."""
    truth: Ints
    """True labels, int, shape (examples,)."""


@dataclass(frozen=True, slots=True)
class _Side:
    """Answers to one side of the split."""

    truth: Ints
    """True labels, int, shape (examples,)."""
    answers: Ints
    """Answers; one beyond the last label is out of domain, int, shape (examples,)."""
    loss: float
    """Mean log-loss."""

    def accuracy(self) -> float:
        """Share of right answers; 0 without examples."""
        return float((self.truth == self.answers).mean()) if len(self.truth) else 0.0


def label_thresholds(scores: Singles, truth: Ints, label_names: Sequence[str]) -> dict[str, float]:
    """By label, the score from which on its answers have the best f1.

    Args:
        scores: held-out probabilities, float32, shape (examples, labels).
        truth: label indexes, int, shape (examples,).
        label_names: labels in order.

    Returns:
        Thresholds by label name; one half for a label that was not tested.
    """
    return {
        name: round(metrics.best_threshold(scores[:, place], truth == place), 6)
        for place, name in enumerate(label_names)
    }


def held_out_curve(scores: Singles, truth: Ints) -> PrecisionRecallCurve:
    """Micro-averaged curve over held-out scores, float32, (examples, labels); int, (examples,)."""
    return metrics.precision_recall_curve(scores, truth)
