"""Reads the examples of a data set with the names of their labels."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.container import Container
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.example import Example

Labelled = tuple[Example, str]
"""An example and the name of its label."""


def labelled(container: Container, view: DatasetView, source: str) -> Iterator[Labelled]:
    """Yield every example of a source, label by label, in order.

    Args:
        container: reads the stack.
        view: the data set.
        source: `upload` or `feedback`.
    """
    dataset, names = view.dataset, {label.label_id: label.name for label in view.labels}
    for example in container.stores.examples.read_all(dataset.dataset_id, source, dataset.counts):
        yield example, names[example.label_id]
