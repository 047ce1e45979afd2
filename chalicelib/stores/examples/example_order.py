"""The order of a dataset's examples: uploads before feedback, then by label, then by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.stores.examples.examples import ExampleRange, ExampleSequence, sequence_of


@dataclass(frozen=True)
class LabelRange:
    """The committed examples of one label and source."""

    sequence: ExampleSequence
    """Where they are."""
    label: Label
    """Their label."""
    count: int
    """How many."""


def label_ranges(
    view: DatasetView, sources: Sequence[str], labels: Sequence[Label]
) -> list[LabelRange]:
    """List the sequences of labels and sources in list order."""
    counts = {c.label_id: c for c in view.dataset.counts}
    return [
        LabelRange(
            sequence_of(view.dataset.dataset_id, source, counts[label.label_id]),
            label,
            counts[label.label_id].count(source),
        )
        for source in sources
        for label in labels
    ]


def stretches(
    ranges: Iterable[LabelRange], start: int, count: int
) -> Iterator[tuple[LabelRange, ExampleRange]]:
    """Cut some positions out of ranges laid end to end.

    Args:
        ranges: in list order.
        start: the first position, from 0.
        count: how many positions.
    """
    position, end = 0, start + count
    for one in ranges:
        first, last = max(start, position), min(end, position + one.count)
        if first < last:
            yield one, ExampleRange(one.sequence, first - position, last - first)
        position += one.count
