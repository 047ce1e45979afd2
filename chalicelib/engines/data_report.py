"""Finds problems in training data: likely label errors and confused labels.

Works on out-of-fold predictions, for texts and images alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chalicelib.domain.models.suspects import OTHER_LABEL, SuspectExample

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints

# Entries of each list of a report.
MAX_LISTED = 100
# Labels with fewer examples are not examined, because most of their good examples would be listed.
LEAST_EXAMPLES = 5
# A pair of labels is listed if the probability that chance causes as many confusions is below this
# value.
_RARELY = 0.01
_FEW, _SOME = 15, 35
_CHUNK_ROWS = 4_096


class Suspect(NamedTuple):
    """An example whose label is probably wrong."""

    example: int
    """Index of the example."""
    suggestion: int
    """Index of the label that the example probably has."""
    confidence: float


class LabelNames(NamedTuple):
    """Names and ids of the labels of a training."""

    names: Sequence[str]
    ids: Sequence[int]
    """Id of each label, by index. Labels that only a global dataset has come last and have no
    id."""

    def id_of(self, label: int) -> int:
        """Return the id of a label; 0 if the label has no id."""
        return self.ids[label] if label < len(self.ids) else 0

    def suspect(self, example_id: int, digest: str, index: int, finding: Suspect) -> SuspectExample:
        """Return the record of an example whose label is probably wrong.

        Args:
            example_id: the example.
            digest: digest of the example, 32 hex digits.
            index: index of the example's label.
            finding: its `suggestion` is the index of the label that probably applies.
        """
        return SuspectExample(
            example_id=example_id,
            digest=digest,
            label_id=self.id_of(index),
            label=self.names[index],
            suggestion_id=self.id_of(finding.suggestion),
            suggestion=self.names[finding.suggestion],
            confidence=round(finding.confidence, 6),
            reason=OTHER_LABEL,
        )


class Confusion(NamedTuple):
    """Two labels that are confused more often than by chance."""

    label: int
    """Index of the true label."""
    answer: int
    """Index of the predicted label."""
    times: int
    expected: float
    """Expected number of confusions by chance."""


def likely_label_errors(
    probabilities: Floats, truth: Ints, limit: int = MAX_LISTED
) -> list[Suspect]:
    """Return examples whose labels are probably wrong, the most suspicious first.

    The method, confident learning, first estimates the number of errors. The threshold of a label
    is its mean probability over the examples with this label. An example is a likely error if,
    among the labels that reach their thresholds, the most probable label is not the given label.

    Then the examples whose given label has the lowest probability are returned, up to the
    estimated number. Examples are skipped if their given label is the most probable label, or has
    fewer than LEAST_EXAMPLES examples.

    Args:
        probabilities: out-of-fold probabilities, float, shape (examples, labels).
        truth: label indexes as given, int, shape (examples,).
        limit: maximum number of suspects to return.

    Source: Northcutt et al. 2021, Confident Learning.
    """
    counts = np.bincount(truth, minlength=probabilities.shape[1])
    is_counted = counts >= LEAST_EXAMPLES
    own = probabilities[np.arange(len(truth)), truth]
    thresholds = np.bincount(truth, own, len(counts)) / np.maximum(counts, 1)
    answers, off_diagonal = _answers_and_errors(probabilities, truth, thresholds, is_counted)
    is_candidate = is_counted[truth] & (answers != truth)
    order = np.argsort(np.where(is_candidate, own, 2.0), kind="stable")
    size = min(off_diagonal, int(is_candidate.sum()), limit)
    return [
        Suspect(int(row), int(answers[row]), float(probabilities[row, answers[row]]))
        for row in order[:size]
    ]


def _answers_and_errors(
    probabilities: Floats, truth: Ints, thresholds: Floats, is_counted: Bools
) -> tuple[Ints, int]:
    """Return the most probable label of every example, and the estimated number of label errors.

    `thresholds` has the mean probability of each label over the examples with this label.
    `is_counted` marks the labels that are examined.
    """
    answers, off_diagonal = np.empty(len(truth), np.int64), 0
    # A chunk at a time, so that no copy of all probabilities is made.
    for first in range(0, len(truth), _CHUNK_ROWS):
        part = np.where(is_counted, probabilities[first : first + _CHUNK_ROWS], -1.0)
        given = truth[first : first + _CHUNK_ROWS]
        answers[first : first + _CHUNK_ROWS] = part.argmax(axis=1)
        part[part < thresholds] = -1.0
        is_confident = part.max(axis=1) >= 0.0
        is_off = is_confident & is_counted[given] & (part.argmax(axis=1) != given)
        off_diagonal += int(is_off.sum())
    return answers, off_diagonal


def likely_binary_errors(shares: Floats, truth: Bools) -> Ints:
    """Return the examples for which one label of a multi-label dataset is probably wrong.

    Args:
        shares: out-of-fold probability of the label, float, shape (examples,).
        truth: whether the example has the label as given, bool, shape (examples,).

    Returns:
        Indexes of these examples, most suspicious first, int, shape (n,).
    """
    if min(int(truth.sum()), int((~truth).sum())) < LEAST_EXAMPLES:
        return np.empty(0, np.int64)
    own = np.where(truth, shares, 1.0 - shares)
    other = 1.0 - own
    threshold = np.where(truth, (1.0 - shares[~truth]).mean(), shares[truth].mean())
    is_off = (other >= threshold) & (other > own)
    return np.argsort(own, kind="stable")[: int(is_off.sum())]


def confused_labels(truth: Ints, answers: Ints, labels: int) -> list[Confusion]:
    """Return pairs of labels that are confused more often than by chance.

    Args:
        truth: label indexes as given, int, shape (examples,).
        answers: predicted label indexes, int, shape (examples,).
        labels: number of labels.

    Returns:
        The confusions, most frequent first, at most 100.
    """
    wrong = truth != answers
    pairs, counts = np.unique(truth[wrong] * labels + answers[wrong], return_counts=True)
    if not len(pairs):
        return []
    given = np.bincount(truth, minlength=labels).astype(np.float64)
    answered = np.bincount(answers, minlength=labels).astype(np.float64)
    # By chance: the same number of errors, distributed by how often labels occur and are
    # predicted.
    weight = float(given.sum() * answered.sum() - np.add.reduce(given * answered))
    found = []
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        label, answer = divmod(pair, labels)
        expected = float(wrong.sum() * given[label] * answered[answer] / max(weight, 1.0))
        # A single error is never a pattern.
        if count > 1 and _poisson_tail(count, expected) < _RARELY:
            found.append(Confusion(label, answer, count, expected))
    return sorted(found, key=lambda one: (-one.times, one.label, one.answer))[:MAX_LISTED]


def confusion_records(names: Sequence[str], truth: Ints, answers: Ints) -> list[dict[str, Any]]:
    """Return the JSON records of `confused_labels`.

    Args:
        names: label names by index.
        truth: label indexes as given, int, shape (examples,).
        answers: predicted label indexes, int, shape (examples,).
    """
    return [
        {
            "label": names[one.label],
            "predictedLabel": names[one.answer],
            "count": one.times,
            "expectedByChance": round(one.expected, 6),
        }
        for one in confused_labels(truth, answers, len(names))
    ]


def expected_precision(examples_per_label: float) -> str:
    """Return a sentence about the fraction of flagged labels that are real errors."""
    if examples_per_label < _FEW:
        return "about half"
    return "about two thirds" if examples_per_label < _SOME else "most"


def _poisson_tail(count: int, expected: float) -> float:
    term = math.exp(-expected)
    below = 0.0
    for number in range(count):
        below += term
        term *= expected / (number + 1)
    return max(0.0, 1.0 - below)
