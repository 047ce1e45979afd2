"""Evaluates a head on the training part and on the held-out part of the examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.engines import metrics
from chalicelib.engines.calibration import energies, probabilities
from chalicelib.engines.interface import TextMetrics
from chalicelib.engines.text.head.domain_score import answer_support
from chalicelib.engines.text.head.neighbours import add_nearness, fit_neighbours

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints, Singles
    from chalicelib.engines.text.head.layout import Layout
    from chalicelib.engines.text.head.out_of_fold import CrossValidation
    from chalicelib.engines.text.head.regression import ExampleBatch, SoftmaxHead
    from chalicelib.engines.text.head.rejector import Rejection, Rejector


_CHUNK_ROWS = 4_096


@dataclass(frozen=True, slots=True)
class SplitEvaluator:
    """Evaluates heads on the training part and the held-out part of the examples."""

    label_names: Sequence[str]
    """Label names, in the dataset's order."""
    training: Sequence[ExampleBatch]
    """Training part of the split, without rows of label names."""
    held_out: Sequence[ExampleBatch]
    """Held-out part of the split."""
    temperature: float
    """Divisor of the logits, which calibrates the probabilities."""
    threshold: float
    """Energy (log-sum-exp of the logits) below which a text is rejected."""
    may_reject: bool
    """Whether the confusion matrix has an out-of-domain row and column."""
    rejector: Rejector | None = None
    """Rejects out-of-domain texts; None if `threshold` is used instead."""
    # Computed once, because no epoch changes them.
    evidence: Mapping[int, Doubles] = field(default_factory=dict)
    """Result of `Domain.evidence`, by `id()` of the batch, float64, shape (examples, 2)."""
    nearness_weight: float = 0.0
    nearness: Mapping[int, Singles] = field(default_factory=dict)
    """Cosine of each example to the nearest text of each label, shape (examples, labels).

    The key is the `id()` of the batch.
    """

    def metrics(self, head: SoftmaxHead) -> TextMetrics:
        """Return the metrics of a head on the training part and the held-out part."""
        trained = self._predict_part(head, self.training)
        tested = self._predict_part(head, self.held_out)
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
            test_accuracy=round(tested.accuracy, 6),
            training_accuracy=round(trained.accuracy, 6),
            test_loss=round(tested.loss, 6),
            training_loss=round(trained.loss, 6),
            confusion_matrix=matrix.tolist(),
        )

    def scores(self, head: SoftmaxHead) -> tuple[Singles, Ints]:
        """Return the probabilities and the true labels of the held-out examples.

        Probabilities are float32, shape (examples, labels). Labels are int, shape (examples,).
        """
        parts = list(self._probabilities(head, self.held_out))
        empty = np.empty((0, len(self.label_names)), np.float32)
        truths = [np.empty(0, np.int64), *(part.truth for part in parts)]
        return np.concatenate([empty, *(part.shares for part in parts)]), np.concatenate(truths)

    def _predict_part(self, head: SoftmaxHead, batches: Sequence[ExampleBatch]) -> _PartPredictions:
        truths, answers, losses = [np.empty(0, np.int64)], [np.empty(0, np.int64)], 0.0
        for part in self._probabilities(head, batches):
            truths.append(part.truth)
            answers.append(np.where(part.is_rejected, len(self.label_names), part.answers))
            # Summed batch by batch, so that only one batch's probabilities exist at a time.
            losses += metrics.log_loss(part.shares, part.truth) * len(part.truth)
        truth, answer = np.concatenate(truths), np.concatenate(answers)
        accuracy = float((truth == answer).mean()) if len(truth) else 0.0
        return _PartPredictions(truth, answer, losses / max(len(truth), 1), accuracy)

    def _probabilities(
        self, head: SoftmaxHead, batches: Sequence[ExampleBatch]
    ) -> Iterator[_BatchPredictions]:
        for batch in batches:
            for first in range(0, len(batch.labels), _CHUNK_ROWS):
                alone = logits = head.logits(batch.features[first : first + _CHUNK_ROWS])
                near = self.nearness.get(id(batch))
                if near is not None:
                    some_near = near[first : first + _CHUNK_ROWS]
                    logits = add_nearness(alone, some_near, self.nearness_weight)
                evidence = self.evidence.get(id(batch))
                some = None if evidence is None else evidence[first : first + _CHUNK_ROWS]
                shares, is_rejected = self._evaluate(logits, alone, some)
                truth = batch.labels[first : first + _CHUNK_ROWS]
                yield _BatchPredictions(shares, shares.argmax(axis=1), is_rejected, truth)

    def _evaluate(
        self, logits: Floats, alone: Floats, evidence: Doubles | None
    ) -> tuple[Singles, Bools]:
        """Return label probabilities and rejections, as the finished model computes them.

        Args:
            logits: logits of the head, plus weighted cosines to the nearest training texts if any.
            alone: logits of the head without these cosines.
            evidence: result of `Domain.evidence`; None without a rejector.
        """
        shares = probabilities(logits, self.temperature)
        if not self.may_reject:
            return shares, np.zeros(len(logits), bool)
        if self.rejector is None or evidence is None:
            return shares, energies(logits, self.temperature) < self.threshold
        support = answer_support(alone, logits, self.temperature)
        signals = self.rejector.scale.scaled(support, evidence, logits.argmax(axis=1))
        cautious = self.rejector.scale.cautious(shares, signals)
        return cautious, self.rejector.rejects(signals)


@dataclass(frozen=True, slots=True)
class _BatchPredictions:
    shares: Singles
    """Probabilities, float32, shape (examples, labels)."""
    answers: Ints
    """Index of the most probable label, int, shape (examples,)."""
    is_rejected: Bools
    """Whether each example is out of domain, bool, shape (examples,)."""
    truth: Ints


@dataclass(frozen=True, slots=True)
class _PartPredictions:
    """Predictions for the training part or the held-out part of the examples."""

    truth: Ints
    """True labels, int, shape (examples,)."""
    answers: Ints
    """Predicted labels, int, shape (examples,); the number of labels means out of domain."""
    loss: float

    accuracy: float


def make_evaluator(
    layout: Layout,
    label_names: Sequence[str],
    choice: CrossValidation,
    rejection: Rejection,
    *,
    may_reject: bool,
) -> SplitEvaluator:
    """Make an evaluator of heads on the training part and the held-out part.

    Args:
        layout: features and labels.
        label_names: labels in the dataset's order.
        choice: settings that the cross-validation chose, such as the temperature.
        rejection: settings for the rejection of texts.
        may_reject: whether the confusion matrix has an out-of-domain row and column.
    """
    training = layout.batches(lambda part: not part.is_held_out and not part.is_phrase)
    held = layout.batches(lambda part: part.is_held_out)
    rejector = None if rejection.rejectors is None else rejection.rejectors.metric
    evidence, nearness = {}, {}
    if rejector is not None:
        evidence = {id(b): rejector.domain.evidence(b.features) for b in (*training, *held)}
    if choice.nearness_weight:
        nearness = _nearness(layout, len(label_names), training, held)
    return SplitEvaluator(
        label_names=label_names,
        training=training,
        held_out=held,
        temperature=choice.metric_temperature,
        threshold=rejection.metric_threshold,
        may_reject=may_reject,
        rejector=rejector,
        evidence=evidence,
        nearness_weight=choice.nearness_weight,
        nearness=nearness,
    )


def _nearness(
    layout: Layout, labels: int, training: Sequence[ExampleBatch], held_out: Sequence[ExampleBatch]
) -> dict[int, Singles]:
    folds = [part.fold for part in layout.ranges if not part.is_held_out and not part.is_phrase]
    whole = fit_neighbours(training, labels, 1.0)
    found = {id(batch): whole.nearness(batch.features) for batch in held_out}
    for fold, batch in zip(folds, training, strict=True):
        # Every training text is nearest to itself, so only texts of other folds are compared.
        others = [one for place, one in zip(folds, training, strict=True) if place != fold]
        if others:
            found[id(batch)] = fit_neighbours(others, labels, 1.0).nearness(batch.features)
    return found


def label_thresholds(scores: Singles, truth: Ints, label_names: Sequence[str]) -> dict[str, float]:
    """Return, for each label, the probability threshold with the best F1 score.

    Args:
        scores: held-out probabilities, float32, shape (examples, labels).
        truth: true label indexes, int, shape (examples,).
        label_names: labels in the order of the columns of `scores`.
    """
    return {
        name: round(metrics.best_threshold(scores[:, place], truth == place), 6)
        for place, name in enumerate(label_names)
    }
