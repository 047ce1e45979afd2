"""Lists examples in a fixed order: uploads before feedback, then by label, then by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.dataset import DatasetView, Label
from chalicelib.stores.examples.examples import ExampleRange, ExampleSequence, sequence_of


@dataclass(frozen=True)
class LabelRange:
    """All committed examples of one label and source."""

    sequence: ExampleSequence
    """The sequence of the examples."""
    label: Label
    """Label of the examples."""
    count: int
    """Number of examples."""


def label_ranges(
    view: DatasetView, sources: Sequence[str], labels: Sequence[Label]
) -> list[LabelRange]:
    """Return one range of examples per source and label, in the order of example lists."""
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
    """Yield each label range that has examples on a page, with the range of these examples.

    A list of examples consists of the examples of all ranges, one range after the other.

    The page has `count` examples of this list, from position `start` on. Positions begin at 0.
    """
    position, end = 0, start + count
    for one in ranges:
        first, last = max(start, position), min(end, position + one.count)
        if first < last:
            yield one, ExampleRange(one.sequence, first - position, last - first)
        position += one.count
