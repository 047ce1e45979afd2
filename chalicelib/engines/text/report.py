"""The data report of a text model: what the training noticed about its examples.

See: chalicelib/engines/data_report.py, chalicelib/engines/text/outcome.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.engines import data_report as reports

if TYPE_CHECKING:
    from chalicelib.domain.training_texts import TrainingTexts
    from chalicelib.engines.interface import OutOfFold, TextReport

MAX_CHARACTERS = 200
"""Characters of a text that the report shows; the whole text is found by its id."""
_PRECISIONS = ((50, "four of five"), (20, "two of three"), (10, "half"))
"""What is right of the list from so many examples a label on; tests/bench/text_data_report.py."""


def data_report(texts: TrainingTexts, report: TextReport) -> dict[str, Any]:
    """Say what the training noticed about its data.

    Args:
        texts: what was learnt from.
        report: what the training measured.
    """
    folds = report.out_of_fold
    suspects = reports.likely_label_errors(folds.probabilities, folds.truth)
    return {
        "likelyLabelErrors": [_suspect_record(texts, folds, one) for one in suspects],
        "expectedPrecision": expected_precision(texts),
        "conflictingNearDuplicates": [
            {
                "examples": [_example(texts, pair.left), _example(texts, pair.right)],
                "similarity": pair.similarity,
            }
            for pair in report.conflicts
        ],
        "confusedLabels": _confusions(texts, folds),
        "duplicatesAcrossSplit": report.duplicates_across_split,
        "duplicatesKeptTogether": report.duplicates_kept_together,
        "examined": len(folds.examples),
    }


def expected_precision(texts: TrainingTexts) -> str:
    """Say how much of the list of likely label errors is usually right.

    Args:
        texts: what was learnt from; a typical label decides.
    """
    counts = np.bincount(texts.label_indexes)
    typical = int(np.median(counts[counts > 0]))
    share = next((share for least, share in _PRECISIONS if typical >= least), None)
    measured = (
        f"about {share} listed examples were flipped ones at so many"
        if share
        else "fewer than half of the listed examples were flipped ones at so few"
    )
    return (
        f"A typical label has {typical} examples; in trials with flipped labels, {measured}. "
        f"Labels with fewer than {reports.LEAST_EXAMPLES} examples are not examined."
    )


def _suspect_record(
    texts: TrainingTexts, folds: OutOfFold, suspect: reports.Suspect
) -> dict[str, Any]:
    """Name a likely label error."""
    return {
        **_example(texts, int(folds.examples[suspect.example])),
        "suggestion": texts.labels[suspect.suggestion],
        "confidence": round(suspect.confidence, 6),
    }


def _confusions(texts: TrainingTexts, folds: OutOfFold) -> list[dict[str, Any]]:
    """Name labels that are mixed up more often than by chance."""
    answers = folds.probabilities.argmax(axis=1)
    found = reports.confused_labels(folds.truth, answers, len(texts.labels))
    return [
        {
            "label": texts.labels[one.label],
            "predictedLabel": texts.labels[one.answer],
            "count": one.times,
            "expectedByChance": round(one.expected, 6),
        }
        for one in found
    ]


def _example(texts: TrainingTexts, place: int) -> dict[str, Any]:
    """Name an example: id, beginning of its text, label."""
    text = texts.texts[place]
    is_long = len(text) > MAX_CHARACTERS
    return {
        "id": texts.example_ids[place],
        "text": text[: MAX_CHARACTERS - 1] + "…" if is_long else text,
        "label": texts.labels[texts.label_indexes[place]],
    }
