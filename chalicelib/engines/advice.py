"""Writes the advice on model cards: what would improve a model most, and by how much.

The expected gains are computed from out-of-fold predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chalicelib.engines.data_report import confused_labels

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Doubles, Floats, Ints
    from chalicelib.engines.interface import Interval

MERGE_LABELS, MORE_EXAMPLES, CUT_TEXTS = "mergeLabels", "moreExamples", "cutTexts"
USER_WORDING = "userWording"
# Only the most useful entries, because a long list is not read.
MOST_ADVICE = 3
# Smaller gains are within the noise of the folds.
_LEAST_GAIN = 0.002
# A label is short of examples if it has fewer than this.
_FEW_EXAMPLES = 20
# The gain of more examples is estimated from labels with at least this many times the label's
# examples.
_MORE = 2
_SHOWN_LABELS = 3
# Accuracy that five examples per label gain over names alone; bench/text_names.py on BANKING77.
_GAIN_OF_FIVE = 0.15


class LabelQuality(NamedTuple):
    """Quality of each label in a cross-validation, and the label's weight in the overall metric."""

    names: Sequence[str]
    counts: Ints
    """Number of examples of every label, int, shape (labels,)."""
    quality: Doubles
    """Accuracy or average precision of every label, float64, shape (labels,)."""
    weights: Doubles
    """Weight of every label in the overall metric, float64, shape (labels,)."""


def single_label_advice(
    names: Sequence[str], truth: Ints, answers: Ints, is_cut: Bools | None = None
) -> list[dict[str, Any]]:
    """Return advice for a model with one label per example, with expected gains in accuracy.

    Args:
        names: names of the labels.
        truth: label indexes of the examples, int, shape (examples,).
        answers: out-of-fold predictions, int, shape (examples,).
        is_cut: whether a text is longer than the model reads, bool, (examples,); None for images.
    """
    if not len(truth):
        return []
    is_right = truth == answers
    counts = np.bincount(truth, minlength=len(names))
    right = np.bincount(truth[is_right], minlength=len(names))
    quality = LabelQuality(names, counts, right / np.maximum(counts, 1), counts / len(truth))
    found = [*_merges(names, truth, answers), *_short_labels(quality)]
    if is_cut is not None:
        found += _cut_texts(is_right, is_cut)
    return _best(found)


def label_name_advice(labels: int, examples: int) -> dict[str, Any]:
    """Return the advice for a model that was trained from label names and few examples."""
    message = (
        f"Add at least five examples of each label: the model was trained from the names of "
        f"{labels} labels and {examples} examples. The gain was measured on a public dataset."
    )
    # Each example per label gives an equal part of the gain of five.
    missing = 1.0 - min(1.0, examples / (5.0 * labels))
    return _entry(MORE_EXAMPLES, message, _GAIN_OF_FIVE * missing)


def multi_label_advice(
    names: Sequence[str], truth: Bools, average_precisions: Floats
) -> list[dict[str, Any]]:
    """Return advice for a multi-label model, with expected gains in mean average precision.

    Args:
        names: names of the labels.
        truth: whether an image has a label, bool, shape (images, labels).
        average_precisions: out-of-fold average precision of every label, float, shape (labels,).
    """
    weights = np.full(len(names), 1.0 / max(len(names), 1))
    quality = np.asarray(average_precisions, np.float64)
    return _best(_short_labels(LabelQuality(names, truth.sum(axis=0), quality, weights)))


def with_shift(
    advice: Sequence[dict[str, Any]], before: Interval, after: Interval, rate: float
) -> list[dict[str, Any]]:
    """Return the advice for the adjusted version of a model.

    An entry is added if users word their texts differently from the examples.

    Args:
        advice: advice on the version before the adjustment.
        before: fraction of users' in-domain texts that were rejected before the adjustment.
        after: fraction of the same texts that are rejected after the adjustment.
        rate: fraction of in-domain texts that may be rejected, as requested for the adjustment.
    """
    others = [one for one in advice if one["code"] != USER_WORDING]
    # Unless the whole interval is above the rate, users may word their texts like the examples.
    if before.low <= rate:
        return others
    message = (
        "Add texts of your users as examples, then train again: they are worded differently. "
        f"Before the adjustment, about {before.value:.1%} of those in the domain were rejected "
        f"instead of {rate:.1%}."
    )
    return _best([*others, _entry(USER_WORDING, message, before.value - after.value)])


def _best(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ranked = sorted(records, key=lambda one: (-one["expectedGain"], one["code"], one["message"]))
    return [one for one in ranked if one["expectedGain"] >= _LEAST_GAIN][:MOST_ADVICE]


def _merges(names: Sequence[str], truth: Ints, answers: Ints) -> list[dict[str, Any]]:
    pairs = {
        (min(one.label, one.answer), max(one.label, one.answer))
        for one in confused_labels(truth, answers, len(names))
    }
    found = []
    for first, second in sorted(pairs):
        is_between = ((truth == first) & (answers == second)) | (
            (truth == second) & (answers == first)
        )
        message = (
            f"Merge the labels '{names[first]}' and '{names[second]}', or add examples that tell "
            f"them apart: {int(is_between.sum())} examples of one were predicted as the other."
        )
        found.append(_entry(MERGE_LABELS, message, float(is_between.mean())))
    return found


def _short_labels(labels: LabelQuality) -> list[dict[str, Any]]:
    """Return the advice to add examples to labels with few examples; empty if no gain is likely."""
    gains = np.zeros(len(labels.counts))
    for label in np.flatnonzero((labels.counts > 0) & (labels.counts < _FEW_EXAMPLES)):
        is_larger = labels.counts >= _MORE * labels.counts[label]
        if is_larger.any():
            missing = float(labels.quality[is_larger].mean() - labels.quality[label])
            gains[label] = max(0.0, missing) * float(labels.weights[label])
    order = [int(label) for label in np.argsort(-gains, kind="stable") if gains[label] > 0]
    if not order:
        return []
    shown = ", ".join(f"'{labels.names[label]}'" for label in order[:_SHOWN_LABELS])
    more = len(order) - _SHOWN_LABELS
    message = (
        f"Add examples of {shown}{f' and {more} more labels' if more > 0 else ''}: labels with "
        f"{_MORE} times as many are answered better."
    )
    return [_entry(MORE_EXAMPLES, message, float(gains.sum()))]


def _cut_texts(is_right: Bools, is_cut: Bools) -> list[dict[str, Any]]:
    if not is_cut.any() or is_cut.all():
        return []
    missing = float(is_right[~is_cut].mean() - is_right[is_cut].mean())
    message = (
        f"Shorten long texts, or send the part that matters: {int(is_cut.sum())} texts are longer "
        "than the model reads, and they are answered worse."
    )
    return [_entry(CUT_TEXTS, message, missing * float(is_cut.mean()))]


def _entry(code: str, message: str, gain: float) -> dict[str, Any]:
    return {"code": code, "message": message, "expectedGain": round(max(0.0, gain), 4)}
