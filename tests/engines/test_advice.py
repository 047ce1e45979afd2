"""Advice on model cards, with gains computed by hand."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.advice import multi_label_advice, single_label_advice, with_shift
from chalicelib.engines.interface import Interval

NAMES = ["bill", "invoice", "refund", "other"]


def test_confused_labels_are_to_be_merged() -> None:
    """For two confused labels the gain of a merge is the fraction that becomes right."""
    truth = np.repeat([0, 1, 2, 3], 50)
    answers = truth.copy()
    answers[:10], answers[50:56] = 1, 0

    (found,) = single_label_advice(NAMES, truth, answers)

    assert (found["code"], found["expectedGain"]) == ("mergeLabels", 16 / 200)
    assert "'bill' and 'invoice'" in found["message"]
    assert "16 examples" in found["message"]


def test_short_labels_need_examples() -> None:
    """For small labels the gain is what labels with twice the examples score better, by weight."""
    truth = np.repeat([0, 1, 2, 3], [10, 40, 40, 10])
    answers = truth.copy()
    answers[:5] = [1, 1, 2, 2, 3]
    answers[10:14] = [0, 2, 3, 2]

    found = [
        one for one in single_label_advice(NAMES, truth, answers) if one["code"] == "moreExamples"
    ]

    # Larger labels have .9 and 1.0, the label has .5; it is a tenth of the examples.
    assert [one["expectedGain"] for one in found] == [round((0.95 - 0.5) * 0.1, 4)]
    assert "'bill'" in found[0]["message"]
    assert "'other'" not in found[0]["message"]


def test_cut_texts_cost_what_they_are_answered_worse() -> None:
    """A quarter of the texts is truncated and half as often right, which gives the gain."""
    truth = np.tile([0, 1, 2, 3], 25)
    is_cut = np.arange(100) < 25
    answers = np.where(is_cut & (np.arange(100) % 2 == 0), (truth + 1) % 4, truth)

    found = single_label_advice(NAMES, truth, answers, is_cut)

    assert found[-1]["code"] == "cutTexts" or found[0]["code"] == "cutTexts"
    (cut,) = [one for one in found if one["code"] == "cutTexts"]
    assert cut["expectedGain"] == round((1 - 12 / 25) * 0.25, 4)
    assert single_label_advice(NAMES, truth, truth, is_cut) == []


def test_only_the_three_largest_gains_are_listed() -> None:
    """Only the three largest gains are listed, the largest first."""
    names = [f"label {number}" for number in range(10)]
    truth = np.repeat(np.arange(10), 40)
    answers = truth.copy()
    for pair in range(5):
        first = 80 * pair
        answers[first : first + 4 + pair] = 2 * pair + 1

    found = single_label_advice(names, truth, answers)

    assert [one["expectedGain"] for one in found] == [8 / 400, 7 / 400, 6 / 400]
    assert "'label 8'" in found[0]["message"]


def test_nothing_to_advise() -> None:
    """A model without errors, or without folds, has no advice."""
    truth = np.repeat([0, 1], 30)
    assert single_label_advice(NAMES[:2], truth, truth) == []
    assert single_label_advice(NAMES, truth[:0], truth[:0]) == []
    assert multi_label_advice([], np.zeros((0, 0), bool), np.zeros(0)) == []


def test_short_labels_of_several() -> None:
    """For multi-label models gains are in mean average precision, labels weighted equally."""
    truth = np.zeros((60, 3), bool)
    truth[:8, 0] = truth[:30, 1] = truth[30:, 2] = True

    (found,) = multi_label_advice(["a", "b", "c"], truth, np.array([0.3, 0.8, 0.9]))

    assert (found["code"], found["expectedGain"]) == ("moreExamples", round(0.55 / 3, 4))


def test_shift_of_users_is_advice_when_it_is_certain() -> None:
    """Users' shift is advised only if its interval is above the rate; it replaces older advice."""
    stored = [{"code": "userWording", "message": "", "expectedGain": 0.3}]
    after = Interval(0.05, 0.03, 0.08)

    (found,) = with_shift(stored, Interval(0.12, 0.09, 0.16), after, 0.05)

    assert (found["code"], found["expectedGain"]) == ("userWording", 0.07)
    assert "12.0%" in found["message"]
    assert with_shift(stored, Interval(0.07, 0.04, 0.11), after, 0.05) == []
