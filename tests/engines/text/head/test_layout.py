"""Row ranges for split and folds."""

from __future__ import annotations

import numpy as np

from chalicelib.engines.split import ALWAYS_TRAINED
from chalicelib.engines.text.head.layout import Layout, make_row_ranges, sorted_rows

HELD = np.array([True, False, False, True, False])
FOLDS = np.array([0, 1, 0, ALWAYS_TRAINED, 0])


def _layout(phrases: int) -> Layout:
    order = sorted_rows(HELD, FOLDS, np.array([4, 3, 2, 1, 0]))
    labels = np.concatenate([order, np.full(phrases, 9)])
    features = labels[:, None].astype(float)
    return Layout(features, labels, order, make_row_ranges(HELD[order], FOLDS[order], phrases))


def test_rows_are_sorted_by_side_then_fold_then_rank() -> None:
    """Rows are sorted by side, fold and rank."""
    assert _layout(0).order.tolist() == [4, 2, 1, 3, 0]
    assert [(part.start, part.stop) for part in _layout(0).ranges] == [
        (0, 2),
        (2, 3),
        (3, 4),
        (4, 5),
    ]


def test_pieces_are_views() -> None:
    """Folds are views of the feature matrix, not copies."""
    layout = _layout(2)

    batches = layout.batches(lambda part: part.fold != 0)

    assert all(np.shares_memory(batch.features, layout.features) for batch in batches)
    assert [batch.labels.tolist() for batch in batches] == [[1], [3], [9, 9]]


def test_examples_leave_phrases_out() -> None:
    """Label phrases are trained on but do not count as examples."""
    layout = _layout(2)

    assert layout.examples(lambda part: not part.is_held_out).tolist() == [4, 2, 1]
    assert layout.examples(lambda part: part.is_phrase).tolist() == []
