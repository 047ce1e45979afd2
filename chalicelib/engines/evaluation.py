"""Evaluates models from their out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.domain.models.evaluation import EvaluatedExample, Evaluation, reliability

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Bools, Floats, Ints


def evaluate_single(
    example_ids: Sequence[int | None],
    names: Sequence[str],
    truth: Ints,
    shares: Floats,
    is_rejected: Bools | None = None,
) -> Evaluation:
    """Return the evaluation of a model that predicts one label.

    Args:
        example_ids: id of each row's example. Rows without an id, which come from a global
            dataset, are left out.
        names: labels by column.
        truth: index of the true label, int, shape (rows,).
        shares: probabilities, as the finished model returns them, float, shape (rows, labels).
        is_rejected: whether the prediction is that no label fits, bool, shape (rows,); None for a
            model that always predicts a label.
    """
    answers = shares.argmax(axis=1).tolist()
    best = [round(share, 6) for share in shares.max(axis=1).tolist()]
    rejected = [False] * len(answers) if is_rejected is None else is_rejected.tolist()
    rows = zip(example_ids, truth.tolist(), answers, best, rejected, strict=True)
    examples = [
        EvaluatedExample(example_id, names[label], None if outside else names[answer], share)
        for example_id, label, answer, share, outside in rows
        if example_id is not None
    ]
    # As in the model card, rejected examples do not count for the reliability.
    answered = [
        (share, label == answer)
        for label, answer, share, outside in zip(
            truth.tolist(), answers, best, rejected, strict=True
        )
        if not outside
    ]
    return Evaluation(examples, reliability(answered))
