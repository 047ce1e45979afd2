"""Judges sigmoids on both sides of the split, label by label, as a record of the learning curve.

A label counts as answered where the head's score is above 0. See: contract section 4
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from chalicelib.domain.common.limits import MAX_EPOCH_RESULTS
from chalicelib.engines import metrics

if TYPE_CHECKING:
    import numpy.typing as npt

    from chalicelib.engines.vision.head.run import HeadRun
    from chalicelib.engines.vision.head.training import HeadTraining

    Bools = npt.NDArray[np.bool_]
    Floats = npt.NDArray[np.floating[Any]]
    Ints = npt.NDArray[np.int64]


def curve_record(epoch: int, training: HeadTraining, run: HeadRun) -> dict[str, Any]:
    """Measure a head.

    Args:
        epoch: number of the epoch, from 1.
        training: names, labels and split.
        run: the head.

    Returns:
        The record; the accuracies of a large training part come from some of it.
    """
    held, seen = training.held, training.judged_part
    names = training.data.pictures.labels
    truth, answers = _sides(training, run, held)
    seen_truth, seen_answers = _sides(training, run, seen)
    matrices = [_matrix(truth[:, label], answers[:, label]) for label in range(len(names))]
    scores = [metrics.rounded(metrics.label_scores(matrix, 2).f1) for matrix in matrices]
    return {
        "epoch": epoch,
        "metricsData": {
            "f1": scores,
            "labels": list(names),
            "testAccuracies": _accuracies(truth, answers),
            "trainingAccuracies": _accuracies(seen_truth, seen_answers),
            "confusionMatrices": {
                name: matrix.tolist() for name, matrix in zip(names, matrices, strict=True)
            },
        },
        "epochResults": _results(training, truth, answers),
        "object": "learningcurve",
    }


def mean_average_precision(scores: Floats, truth: Floats) -> float:
    """Mean, over labels that some picture has, of the area under precision and recall.

    Args:
        scores: float, shape (pictures, labels).
        truth: 1 where a picture has a label, else 0, same shape.

    Returns:
        A share; 0 when no picture has any label.
    """
    areas = []
    for label in np.flatnonzero(truth.sum(axis=0) > 0):
        order = np.argsort(-scores[:, label], kind="stable")
        is_hit = truth[order, label] > 0
        precision = np.cumsum(is_hit) / np.arange(1, len(order) + 1)
        areas.append(float(precision[is_hit].mean()))
    return sum(areas) / len(areas) if areas else 0.0


def _sides(training: HeadTraining, run: HeadRun, places: Ints) -> tuple[Bools, Bools]:
    """Truth and answers for pictures, int, shape (n,): bool, shape (n, all labels) each."""
    targets = training.targets
    truth = np.zeros((len(places), targets.names), bool)
    answers = np.zeros_like(truth)
    truth[:, targets.present] = targets.dense(places, bool)
    answers[:, targets.present] = run.logits(places) > 0
    return truth, answers


def _matrix(truth: Bools, answers: Bools) -> Ints:
    """Confusion of one label, negative first, bool, shape (n,) each, to int, shape (2, 2)."""
    return metrics.confusion_matrix(truth.astype(np.int64), answers.astype(np.int64), 2)


def _accuracies(truth: Bools, answers: Bools) -> list[float]:
    """Share of right answers by label, bool, shape (n, labels) each."""
    right = (truth == answers).sum(axis=0) / max(len(truth), 1)
    return metrics.rounded(right)


def _results(
    training: HeadTraining, truth: Bools, answers: Bools
) -> dict[str, list[dict[str, str]]]:
    """Say what was answered to the first held-out pictures, bool, shape (n, labels) each."""
    pictures, names = training.data.pictures.pictures, training.data.pictures.labels
    shown = training.held[: max(1, MAX_EPOCH_RESULTS // len(names))]
    results: dict[str, list[dict[str, str]]] = {name: [] for name in names}
    for row, place in enumerate(shown):
        for label, name in enumerate(names):
            expected = sign_of(name, is_present=bool(truth[row, label]))
            results[name].append(
                {
                    "exampleName": f"{pictures[place].name}-{expected}",
                    "expectedLabel": expected,
                    "predictedLabel": sign_of(name, is_present=bool(answers[row, label])),
                }
            )
    return results


def sign_of(name: str, *, is_present: bool) -> str:
    """Say that a picture has a label or not, in the contract's form."""
    return f"{name}_positive" if is_present else f"{name}_negative"
