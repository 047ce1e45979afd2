"""Rules of training requests and of guard entries."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.domain.dataset import Dataset, DatasetView, Label, LabelCounts
from chalicelib.domain.training import (
    GUARD_GRACE_MILLISECONDS,
    check_enough_texts,
    check_words,
    checked_algorithm,
    guard_model_id,
    is_left_over,
    new_guard,
)
from chalicelib.errors import BadRequest, InvalidParameter, TooFewExamples

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def _view(*counts: tuple[int, int], words: int = 0) -> DatasetView:
    """A dataset with labels of these uploads and feedback."""
    rows = tuple(LabelCounts(10_000 + n, *pair) for n, pair in enumerate(counts))
    dataset = Dataset(
        "1",
        "language",
        7,
        "d",
        "text-intent",
        "en_US",
        "SUCCEEDED",
        True,
        NOW,
        NOW,
        counts=rows,
        words_upload=words,
    )
    labels = tuple(Label(row.label_id, 7, f"l{n}", row.total) for n, row in enumerate(rows))
    return DatasetView(dataset, labels)


@pytest.mark.parametrize(
    ("dataset_type", "sent", "used"),
    [
        ("text-intent", None, "intent"),
        ("text-intent", "multilingual-intent-ood", "multilingual-intent-ood"),
        ("image-detection", None, "object-detection"),
        ("image-detection", "object-detection-v2", "object-detection"),
        ("text-sentiment", None, None),
        ("image", None, None),
    ],
)
def test_algorithm_of_a_type(dataset_type: str, sent: str | None, used: str | None) -> None:
    """Types with a choice have a default; aliases are the algorithm they stand for."""
    assert used == checked_algorithm(dataset_type, sent)


def test_algorithm_where_there_is_no_choice() -> None:
    """A type without algorithms takes none."""
    with pytest.raises(InvalidParameter, match="leave it out"):
        checked_algorithm("text-sentiment", "intent")


@pytest.mark.parametrize(
    ("counts", "with_feedback", "words"),
    [
        ([], False, "at least 2 labels; dataset 7 has 0"),
        ([(9, 9)], False, "at least 2 labels; dataset 7 has 1"),
        ([(4, 9), (5, 0)], False, "'l0' has 4. Add examples"),
        ([(4, 0), (0, 4), (5, 0)], True, "'l0' has 4, 'l1' has 4. Add"),
    ],
)
def test_too_few_texts(counts: list[tuple[int, int]], with_feedback: bool, words: str) -> None:
    """Every label that is short is named with its count."""
    with pytest.raises(TooFewExamples, match=words):
        check_enough_texts(_view(*counts), with_feedback=with_feedback)


def test_many_short_labels_are_counted() -> None:
    """After twenty labels the others are counted, so that the message stays readable."""
    with pytest.raises(TooFewExamples, match=r"'l19' has 1 and 980 more\. Add"):
        check_enough_texts(_view(*[(1, 0)] * 1_000), with_feedback=False)


def test_enough_texts() -> None:
    """Five of each of two labels are enough, feedback included where it is used."""
    check_enough_texts(_view((5, 0), (5, 0)), with_feedback=False)
    check_enough_texts(_view((4, 1), (0, 5)), with_feedback=True)


def test_words_over_the_limit() -> None:
    """The refusal holds both numbers."""
    check_words(_view(words=3_000_000).dataset, with_feedback=False)

    with pytest.raises(BadRequest, match="has 3,000,001 words; at most 3,000,000"):
        check_words(_view(words=3_000_001).dataset, with_feedback=False)


def test_guard_entries() -> None:
    """An entry names its model, differs from any other, and is left over after a minute."""
    entry, twin = new_guard("A" * 26, 1_000), new_guard("A" * 26, 1_000)
    grace = 1_000 + GUARD_GRACE_MILLISECONDS

    assert entry != twin
    assert guard_model_id(entry) == "A" * 26
    assert not is_left_over(entry, [], grace)
    assert is_left_over(entry, [], grace + 1)
    assert not is_left_over(entry, ["A" * 26], grace + 1)
    assert is_left_over(entry, [], 1_000, {"A" * 26: 1_001})
    assert not is_left_over(entry, [], 1_000, {"A" * 26: 1_000})
