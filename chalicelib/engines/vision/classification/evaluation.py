"""Judges a softmax head on both sides of the split, as one record of the learning curve.

See: contract section 4
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

    Ints = npt.NDArray[np.int64]


def curve_record(epoch: int, training: HeadTraining, run: HeadRun) -> dict[str, Any]:
    """Measure a head.

    Args:
        epoch: number of the epoch, from 1.
        training: names, labels and split.
        run: the head.

    Returns:
        The record; accuracy and loss of a large training part come from some of it.
    """
    targets, held, seen = training.targets, training.held, training.judged_part
    names = training.data.pictures.labels
    truth = targets.single()
    seen_logits = run.logits(seen)
    answers = run.logits(held).argmax(axis=1)
    present = targets.present
    matrix = metrics.confusion_matrix(present[truth[held]], present[answers], len(names))
    hits = int(np.trace(matrix))
    right = seen_logits.argmax(axis=1) == truth[seen]
    return {
        "epoch": epoch,
        "metricsData": {
            "f1": metrics.rounded(metrics.label_scores(matrix, len(names)).f1),
            "labels": list(names),
            "testAccuracy": round(hits / max(len(held), 1), 6),
            "trainingLoss": round(run.mean_loss(seen_logits, seen), 6),
            "confusionMatrix": matrix.tolist(),
            "trainingAccuracy": round(float(right.mean()), 6),
        },
        "epochResults": _results(training, held, present[answers]),
        "object": "learningcurve",
    }


def _results(training: HeadTraining, held: Ints, answers: Ints) -> list[dict[str, str]]:
    """Say what was answered to the first held-out pictures, int, shape (n,) each."""
    pictures, names = training.data.pictures.pictures, training.data.pictures.labels
    results = []
    for place, answer in zip(held[:MAX_EPOCH_RESULTS], answers, strict=False):
        expected = names[pictures[place].labels[0]]
        results.append(
            {
                "exampleName": f"{pictures[place].name}-{expected}",
                "expectedLabel": expected,
                "predictedLabel": names[answer],
            }
        )
    return results
