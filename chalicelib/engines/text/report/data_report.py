"""Writes the data report of a text model: likely label errors, near-duplicates, confused labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.datasets.example import text_digest
from chalicelib.engines import data_report as reports

if TYPE_CHECKING:
    from chalicelib.domain.models.suspects import SuspectExample
    from chalicelib.domain.models.training_texts import TrainingTexts
    from chalicelib.engines.interface import OutOfFold, TextReport

# Longer texts are cut in the report; the id leads to the whole text.
MAX_CHARACTERS = 200
# Minimum number of examples per label, and the fraction of listed examples that are then real
# errors. Measured by bench/text_data_report.py.
_PRECISIONS = ((50, "four of five"), (20, "two of three"), (10, "half of the"))


def data_report(texts: TrainingTexts, report: TextReport) -> dict[str, Any]:
    """Return the data report as a JSON object. It lists problems of the training data."""
    folds = report.out_of_fold
    suspects = reports.likely_label_errors(folds.probabilities, folds.truth)
    return {
        "likelyLabelErrors": [_suspect_record(texts, folds, one) for one in suspects],
        "expectedPrecision": f"{expected_precision(texts)} {_scope(texts, folds)}",
        "conflictingNearDuplicates": [
            {
                "examples": [_example(texts, pair.left), _example(texts, pair.right)],
                "similarity": pair.similarity,
            }
            for pair in report.conflicts
        ],
        "confusedLabels": reports.confusion_records(
            texts.labels, folds.truth, folds.probabilities.argmax(axis=1)
        ),
        "duplicatesAcrossSplit": report.duplicates_across_split,
        "duplicatesKeptTogether": report.duplicates_kept_together,
        "examined": _examined(folds),
    }


def _examined(folds: OutOfFold) -> int:
    counts = np.bincount(folds.truth)
    return int(counts[counts >= reports.LEAST_EXAMPLES].sum())


def _scope(texts: TrainingTexts, folds: OutOfFold) -> str:
    least = reports.LEAST_EXAMPLES
    if len(folds.examples) == len(texts.texts):
        return f"Labels with fewer than {least} examples are not examined."
    return (
        f"Only {len(folds.examples)} of {len(texts.texts)} examples could be held out; the others, "
        f"and labels with fewer than {least} among them, are not examined."
    )


def expected_precision(texts: TrainingTexts) -> str:
    """Return a sentence with an estimate of how many flagged examples are real label errors."""
    counts = np.sort(np.bincount(texts.label_indexes))
    counts = counts[counts > 0]
    if not len(counts):
        return "There are no examples."
    # The lower of two middle counts, because a label of that size exists.
    typical = int(counts[(len(counts) - 1) // 2])
    share = next((share for least, share in _PRECISIONS if typical >= least), None)
    measured = (
        f"about {share} listed examples were flipped for labels of that size"
        if share
        else "fewer than half of the listed examples were flipped for labels of that size"
    )
    return f"A typical label has {typical} examples; in trials with flipped labels, {measured}."


def suspect_examples(texts: TrainingTexts, folds: OutOfFold) -> list[SuspectExample]:
    """Return all examples that look like label errors; the data report lists only some of them."""
    all_suspects = reports.likely_label_errors(folds.probabilities, folds.truth, len(folds.truth))
    own = texts.spans[0][1] if texts.spans else len(texts.texts)
    names = reports.LabelNames(texts.labels, texts.label_ids)
    found = []
    for one in all_suspects:
        place = int(folds.examples[one.example])
        # Examples of a global dataset follow, which users cannot correct.
        if place < own:
            digest = text_digest(texts.texts[place]).hex()
            given = texts.label_indexes[place]
            found.append(names.suspect(texts.example_ids[place], digest, given, one))
    return found


def _suspect_record(
    texts: TrainingTexts, folds: OutOfFold, suspect: reports.Suspect
) -> dict[str, Any]:
    return {
        **_example(texts, int(folds.examples[suspect.example])),
        "suggestion": texts.labels[suspect.suggestion],
        "confidence": round(suspect.confidence, 6),
    }


def _example(texts: TrainingTexts, place: int) -> dict[str, Any]:
    text = texts.texts[place]
    is_long = len(text) > MAX_CHARACTERS
    return {
        "id": texts.example_ids[place],
        "text": text[: MAX_CHARACTERS - 1] + "…" if is_long else text,
        "label": texts.labels[texts.label_indexes[place]],
    }
