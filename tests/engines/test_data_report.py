"""Label errors and mixed-up labels are detected; correct data is not flagged."""

from __future__ import annotations

import numpy as np
import pytest

from chalicelib.engines import data_report
from chalicelib.engines.data_report import (
    MAX_LISTED,
    confused_labels,
    expected_precision,
    likely_binary_errors,
    likely_label_errors,
)


def _probabilities(truth: np.ndarray, labels: int, seed: int = 0) -> np.ndarray:
    generator = np.random.default_rng(seed)
    logits = generator.normal(size=(len(truth), labels)) * 0.5
    logits[np.arange(len(truth)), truth] += 4
    shares = np.exp(logits)
    return shares / shares.sum(axis=1, keepdims=True)


def test_flipped_labels_are_found_with_their_true_one() -> None:
    """Of 300 examples with 15 flipped labels nearly all flagged ones are flipped."""
    right = np.arange(300) % 5
    given = right.copy()
    given[:15] = (given[:15] + 1) % 5

    suspects = likely_label_errors(_probabilities(right, 5), given)

    listed = [suspect.example for suspect in suspects]
    assert len(set(listed) & set(range(15))) >= 13
    assert len(set(listed) - set(range(15))) <= 2
    assert all(suspect.suggestion == right[suspect.example] for suspect in suspects)
    assert all(0.5 < suspect.confidence <= 1 for suspect in suspects)


def test_labels_with_few_examples_stay_out() -> None:
    """Labels with four examples are neither flagged nor suggested."""
    truth = np.array([0] * 20 + [1] * 4 + [2] * 20)
    shares = _probabilities(np.zeros(44, np.int64), 3)
    shares[24:] = _probabilities(np.full(20, 2), 3)

    assert likely_label_errors(shares, truth) == []


def test_the_list_is_bounded_and_its_order_is_by_suspicion() -> None:
    """If most labels of a large set are wrong, the 100 least likely are listed in order."""
    right = np.arange(1_000) % 2
    given = right.copy()
    given[::3] = 1 - given[::3]
    shares = _probabilities(right, 2)

    suspects = likely_label_errors(shares, given)

    own = [shares[suspect.example, given[suspect.example]] for suspect in suspects]
    assert len(suspects) == MAX_LISTED
    assert sorted(own) == own


def test_chunks_and_a_longer_list_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processing in chunks, and a longer limit, do not change the beginning of the list."""
    right = np.arange(1_000) % 2
    given = right.copy()
    given[::3] = 1 - given[::3]
    shares = _probabilities(right, 2)
    short = likely_label_errors(shares, given)

    monkeypatch.setattr(data_report, "_CHUNK_ROWS", 7)
    whole = likely_label_errors(shares, given, limit=1_000)

    assert whole[:MAX_LISTED] == short
    assert 320 <= len(whole) <= 345


def test_a_missing_label_is_found() -> None:
    """For a single label flipped outcomes are found; too few positive examples give none."""
    truth = np.arange(40) < 20
    shares = np.where(truth, 0.9, 0.1)
    truth[[3, 30]] = [False, True]

    assert {3, 30} == set(likely_binary_errors(shares, truth).tolist())
    assert len(likely_binary_errors(shares, np.arange(40) < 4)) == 0


def test_confused_labels_differ_from_scattered_errors() -> None:
    """Labels confused more often than by chance are reported; single errors are not."""
    truth = np.repeat(np.arange(10), 50)
    answers = truth.copy()
    answers[:10] = 1
    answers[[60, 120, 180, 250, 330]] = [5, 7, 9, 0, 2]

    found = confused_labels(truth, answers, 10)

    assert [(one.label, one.answer, one.times) for one in found] == [(0, 1, 10)]
    assert found[0].expected < 1
    assert confused_labels(truth, truth, 10) == []


@pytest.mark.parametrize(
    ("examples", "expected"), [(10, "about half"), (20, "about two thirds"), (50, "most")]
)
def test_small_sets_are_said_to_be_unsure(examples: int, expected: str) -> None:
    """The stated precision of the list falls with the number of examples."""
    assert expected == expected_precision(examples)
