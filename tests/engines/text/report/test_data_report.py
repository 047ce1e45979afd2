"""The data report in a text model's card."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest

from chalicelib.domain.datasets.example import text_digest
from chalicelib.domain.models.redaction import without_examples
from chalicelib.domain.models.suspects import SuspectExample
from chalicelib.domain.models.training_texts import TrainingTexts
from chalicelib.engines.interface import OutOfFold, TextReport
from chalicelib.engines.text import fit as training
from chalicelib.engines.text.report.data_report import (
    MAX_CHARACTERS,
    data_report,
    expected_precision,
    suspect_examples,
)
from chalicelib.engines.text.similarity.same_words import same_words
from tests.engines.text.clusters import a_training_set

LABELS = ["order", "refund", "address"]


def _trained(
    flipped: int = 0, doubled: int = 0, written: Mapping[int, str] | None = None
) -> tuple[TrainingTexts, TextReport]:
    """Train on thirty examples of three labels: some flipped, duplicated, or with a given text."""
    examples = a_training_set([30] * 3, dims=(24,), spread=0.3)
    labels = examples.label_indexes.copy()
    labels[:flipped] = (labels[:flipped] + 1) % 3
    rows = np.concatenate([np.arange(90), np.arange(80, 80 + doubled)])
    given = np.concatenate([labels, (labels[80 : 80 + doubled] + 1) % 3])
    texts = TrainingTexts(
        labels=LABELS,
        texts=[(written or {}).get(row) or f"text {row} " + "é" * 300 for row in rows.tolist()],
        label_indexes=given.tolist(),
        example_ids=[1_000 + place for place in range(len(rows))],
    )
    training_set = training.TextTrainingSet(
        blocks={"encoder": examples.blocks["encoder0"][rows]},
        label_indexes=given,
        label_names=LABELS,
        digests=[examples.digests[row] for row in rows],
        word_digests=[text_digest(same_words(text)) for text in texts.texts],
    )
    report = training.fit(training_set, training.TextFitOptions(), [].append).report
    assert report is not None
    return texts, report


def test_flipped_labels_are_suspected() -> None:
    """Six flipped labels lead the list, with id, excerpt and true label."""
    texts, report = _trained(flipped=6)

    found = data_report(texts, report)["likelyLabelErrors"]

    assert {entry["id"] for entry in found[:5]} <= set(range(1_000, 1_006))
    for entry in found:
        assert sorted(entry) == ["confidence", "id", "label", "suggestion", "text"]
        assert entry["text"].startswith(f"text {entry['id'] - 1_000} é")
        assert len(entry["text"]) == MAX_CHARACTERS
        assert entry["suggestion"] != entry["label"]


def test_all_suspects_are_named_beyond_the_list() -> None:
    """All suspects are stored beyond the listed hundred, with id and digest."""
    right = np.arange(900) % 3
    given = right.copy()
    given[:300] = (given[:300] + 1) % 3
    shares = np.full((900, 3), 0.1, np.float32)
    shares[np.arange(900), right] = 0.8
    texts = TrainingTexts(
        labels=LABELS,
        texts=[f"text {place}" for place in range(900)],
        label_indexes=given.tolist(),
        example_ids=list(range(5_000, 5_900)),
        label_ids=[71, 72],
        spans=[(1, 899), (2, 1)],
    )

    found = suspect_examples(texts, OutOfFold(np.arange(900), shares, given))

    assert {one.example_id for one in found} == set(range(5_000, 5_300))
    assert found[0] == SuspectExample(
        5_000, text_digest("text 0").hex(), 72, "refund", 71, "order", 0.8, "otherLabel"
    )
    assert (found[1].label_id, found[1].suggestion_id) == (0, 72)


def test_examples_of_a_global_dataset_are_no_suspects() -> None:
    """Examples of a global dataset are only in the report, since users cannot correct them."""
    texts, report = _trained(flipped=6)
    texts.spans = [(1, 3), (2, 87)]

    found = suspect_examples(texts, report.out_of_fold)

    assert {one.example_id for one in found} <= {1_000, 1_001, 1_002}
    assert len(data_report(texts, report)["likelyLabelErrors"]) > len(found) > 0


def test_contradictory_labels_are_named() -> None:
    """A text with two labels is listed with both, and is not split between train and test."""
    texts, report = _trained(doubled=3)

    document = data_report(texts, report)

    pairs = [pair for pair in document["conflictingNearDuplicates"] if pair["similarity"] == 1]
    assert sorted(tuple(one["id"] for one in pair["examples"]) for pair in pairs) == [
        (1_080, 1_090),
        (1_081, 1_091),
        (1_082, 1_092),
    ]
    assert all(len({one["label"] for one in pair["examples"]}) == 2 for pair in pairs)
    assert (document["duplicatesAcrossSplit"], document["examined"]) == (0, 93)
    assert document["duplicatesKeptTogether"] >= 3


def test_texts_of_the_same_words_are_contradictions() -> None:
    """Texts that differ in punctuation and case are contradictory if their labels differ."""
    labels = a_training_set([30] * 3, dims=(24,), spread=0.3).label_indexes
    other = next(row for row in range(90) if labels[row] != labels[5])
    texts, report = _trained(
        doubled=1, written={5: "Where is my parcel?", other: "where is  my parcel"}
    )

    found = data_report(texts, report)["conflictingNearDuplicates"]

    pairs = {tuple(one["id"] for one in pair["examples"]): pair["similarity"] for pair in found[:2]}
    assert pairs == {(1_080, 1_090): 1, (1_000 + min(5, other), 1_000 + max(5, other)): 1}


def test_mixed_up_labels_are_named() -> None:
    """Labels whose examples are confused are listed with the count expected by chance."""
    texts, report = _trained()
    shares = np.full((90, 3), 0.1, np.float32)
    shares[np.arange(90), np.where(report.out_of_fold.truth == 2, 2, 0)] = 0.8
    folds = OutOfFold(report.out_of_fold.examples, shares, report.out_of_fold.truth)
    object.__setattr__(report, "out_of_fold", folds)

    [confusion] = data_report(texts, report)["confusedLabels"]

    assert (confusion["label"], confusion["predictedLabel"]) == ("refund", "order")
    assert confusion["count"] == 30 > 2 * confusion["expectedByChance"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(60, "four of five"), (25, "two of three"), (12, "about half of"), (6, "fewer than half")],
)
def test_the_list_says_how_far_to_trust_it(count: int, expected: str) -> None:
    """The fewer examples a label has, the lower the stated precision of the list."""
    sentence = expected_precision(TrainingTexts(label_indexes=[0] * count + [1] * count))

    assert expected in sentence
    assert f"{count} examples" in sentence


def test_a_typical_label_is_one_that_exists() -> None:
    """The stated precision is that of the label with the fewest examples."""
    sentence = expected_precision(TrainingTexts(label_indexes=[0] * 990 + [1] * 10))

    assert "has 10 examples" in sentence
    assert "half of the" in sentence


def test_what_was_not_examined_is_reported() -> None:
    """With one held-out part, the number of unexamined examples is reported."""
    texts, report = _trained()
    folds = report.out_of_fold
    held = np.flatnonzero(folds.truth == 0)[:4].tolist() + np.flatnonzero(folds.truth == 1).tolist()
    part = OutOfFold(folds.examples[held], folds.probabilities[held], folds.truth[held])
    object.__setattr__(report, "out_of_fold", part)

    document = data_report(texts, report)

    assert document["examined"] == 30
    assert "Only 34 of 90 examples" in document["expectedPrecision"]
    assert {one["label"] for one in document["likelyLabelErrors"]} <= {LABELS[1]}


def test_the_lists_are_ranked_and_end_at_a_hundred() -> None:
    """Of 400 wrong labels the hundred least likely are listed, the worst first."""
    texts, report = _trained()
    rows = np.tile(np.arange(60), 20)
    shares = np.zeros((1_200, 3), np.float32)
    truth = np.repeat([0, 1], 600)
    own = np.random.default_rng(0).uniform(0.6, 0.9, 1_200).astype(np.float32)
    own[::3] = 1 - own[::3]
    shares[np.arange(1_200), truth], shares[np.arange(1_200), 1 - truth] = own, 1 - own
    object.__setattr__(report, "out_of_fold", OutOfFold(rows, shares, truth))

    document = data_report(texts, report)

    confidences = [one["confidence"] for one in document["likelyLabelErrors"]]
    assert len(confidences) == 100
    assert confidences == sorted(confidences, reverse=True)
    assert confidences[0] > 0.89


def test_nothing_of_the_texts_stays_after_deletion() -> None:
    """After the deletion of the dataset the report contains no text or id."""
    texts, report = _trained(flipped=6, doubled=3)
    document = data_report(texts, report)
    assert "text 0 é" in json.dumps(document, ensure_ascii=False)

    left = json.dumps(without_examples(document, LABELS), ensure_ascii=False)

    assert "é" not in left
    assert not any(str(number) in left for number in range(1_000, 1_093))
    assert len(json.loads(left)["conflictingNearDuplicates"]) >= 3
