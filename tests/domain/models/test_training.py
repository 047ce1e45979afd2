"""Rules of training requests and of guard entries."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.datasets.dataset import (
    FAMILY_TYPES,
    Dataset,
    DatasetView,
    Label,
    LabelCounts,
)
from chalicelib.domain.models.model import ALGORITHM_ALIASES, ALGORITHMS
from chalicelib.domain.models.training import (
    GUARD_GRACE_MILLISECONDS,
    attempt_cause,
    check_enough_pictures,
    check_enough_texts,
    check_words,
    checked_algorithm,
    guard_model_id,
    is_left_over,
    new_guard,
    out_of_attempts,
)
from chalicelib.errors import BadRequest, InvalidParameter, StorageUnavailable, TooFewExamples

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TYPES = [name for names in FAMILY_TYPES.values() for name in names]
KNOWN = [*(name for names in ALGORITHMS.values() for name in names), *ALGORITHM_ALIASES]


def _view(*counts: tuple[int, int], words: int = 0) -> DatasetView:
    """Make a dataset with labels of these uploads and feedback."""
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


@pytest.mark.parametrize("dataset_type", TYPES)
def test_algorithm_of_another_type_is_ignored(dataset_type: str) -> None:
    """A command-line client always sends object-detection-v1; the type's default is used."""
    own = ALGORITHMS.get(dataset_type, ())

    for sent in KNOWN:
        name = ALGORITHM_ALIASES.get(sent, sent)
        used = name if name in own else next(iter(own), None)
        assert used == checked_algorithm(dataset_type, sent), sent


def test_retraining_keeps_the_algorithm() -> None:
    """Without one of the type's own, the training before decides."""
    assert checked_algorithm("text-intent", None, "multilingual-intent") == "multilingual-intent"
    assert checked_algorithm("text-intent", "retail-execution", "intent") == "intent"
    assert checked_algorithm("text-intent", "intent", "multilingual-intent") == "intent"


@pytest.mark.parametrize("dataset_type", TYPES)
def test_unknown_algorithm_is_refused(dataset_type: str) -> None:
    """What no type knows is a mistake, whatever the type."""
    with pytest.raises(InvalidParameter, match=r"'magic' is not one of intent, .*retail-execution"):
        checked_algorithm(dataset_type, "magic")


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


def _pictures(kind: str, *counts: tuple[int, int]) -> DatasetView:
    """Make an image dataset with labels of these uploads and feedback."""
    view = _view(*counts)
    return replace(view, dataset=replace(view.dataset, family="vision", type=kind))


@pytest.mark.parametrize(
    ("kind", "counts", "with_feedback", "message"),
    [
        ("image", [(1, 0), (1, 0)], False, None),
        ("image", [(1, 0), (0, 0), (3, 0)], False, None),
        ("image", [(1, 0), (0, 2)], True, None),
        (
            "image",
            [(1, 0), (0, 2), (0, 0)],
            False,
            "Training needs at least 2 labels that have examples; dataset 7 has 1: "
            "'l1' has 0, 'l2' has 0. Add examples of another label, then train again.",
        ),
        (
            "image-multi-label",
            [(9, 0)],
            False,
            "Training needs at least 2 labels that have examples; dataset 7 has 1. "
            "Add examples of another label, then train again.",
        ),
        (
            "image-multi-label",
            [],
            True,
            "Training needs at least 2 labels that have examples; dataset 7 has 0. "
            "Add examples of another label, then train again.",
        ),
        ("image-detection", [(0, 0), (1, 0)], False, None),
        ("image-detection", [(0, 1)], True, None),
        (
            "image-detection",
            [(0, 1), (0, 0)],
            False,
            "Training needs at least 1 box; dataset 7 has 0: 'l0' has 0, 'l1' has 0. "
            "Add boxes, then train again.",
        ),
    ],
)
def test_enough_pictures(
    kind: str, counts: list[tuple[int, int]], with_feedback: bool, message: str | None
) -> None:
    """Images need two labels that have examples, detection one box; the short ones are named."""
    view = _pictures(kind, *counts)

    if message is None:
        check_enough_pictures(view, with_feedback=with_feedback)
        return
    with pytest.raises(TooFewExamples) as refusal:
        check_enough_pictures(view, with_feedback=with_feedback)
    assert refusal.value.message == message


def test_a_thousand_empty_labels_are_not_all_named() -> None:
    """A refusal names the first empty labels and counts the rest."""
    view = _pictures("image", (1, 0), *[(0, 0)] * 999)

    with pytest.raises(TooFewExamples, match="'l20' has 0 and 979 more"):
        check_enough_pictures(view, with_feedback=False)


def test_causes_of_broken_attempts() -> None:
    """Image trainings name causes in plain words, each with its remedy."""
    memory = attempt_cause("vision", MemoryError("x"))
    storage = attempt_cause("vision", StorageUnavailable())

    assert out_of_attempts(3, memory) == (
        "Training stopped after 3 attempts: the worker ran out of memory. "
        "Use smaller images or fewer examples, then train again."
    )
    assert out_of_attempts(3, storage).startswith(
        "Training stopped after 3 attempts: the dataset's images could not be read from storage. "
    )
    assert attempt_cause("vision", KeyError("k")) == "KeyError: 'k'"
    assert attempt_cause("language", MemoryError("x")) == "MemoryError: x"
    assert out_of_attempts(2, "").startswith("Training stopped after 2 attempts. Train again;")
