"""Where examples can be seen: a text is its own location, a picture has a temporary URL.

A URL is handed out only after the dataset's row says until when it lives; the dataset's deletion is
not over before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from chalicelib.domain.common.clock import Clock, to_milliseconds
from chalicelib.domain.common.head_calls import current_head_call
from chalicelib.domain.common.limits import IMAGE_URL_SECONDS
from chalicelib.domain.datasets.dataset import Dataset, Label
from chalicelib.domain.datasets.example import Example, ExampleView
from chalicelib.errors import DatasetNotFound, LabelNotFound
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.examples.pictures import PictureStore


class ExampleViews:
    """Shows examples of one dataset at a time."""

    def __init__(
        self, datasets: DatasetStore, labels: LabelStore, pictures: PictureStore, clock: Clock
    ) -> None:
        self._datasets = datasets
        self._labels = labels
        self._pictures = pictures
        self._clock = clock

    def show(
        self, dataset: Dataset, found: Sequence[tuple[Example, Label]]
    ) -> tuple[ExampleView, ...]:
        """Give each example with its label a location.

        Raises:
            DatasetNotFound: it is being deleted, so its pictures are not shown any more.
        """
        views = tuple(
            ExampleView(example, label, self._location(dataset, example))
            for example, label in found
        )
        if any(example.picture for example, _ in found) and not current_head_call():
            # After they were made: none of them lives longer than what the row says.
            until = self._clock() + timedelta(seconds=IMAGE_URL_SECONDS)
            if not self._datasets.note_urls(dataset, to_milliseconds(until)):
                raise DatasetNotFound(dataset.dataset_id)
        return views

    def show_one(self, dataset: Dataset, example: Example) -> ExampleView:
        """Give one example its label and a location.

        Raises:
            LabelNotFound: the dataset, and the label with it, is being deleted.
            DatasetNotFound: it is being deleted, so its pictures are not shown any more.
        """
        label = self._labels.view(dataset).label(example.label_id)
        if label is None:
            raise LabelNotFound(example.label_id)
        return self.show(dataset, [(example, label)])[0]

    def _location(self, dataset: Dataset, example: Example) -> str:
        if not example.picture:
            return example.name
        return self._pictures.url(dataset.dataset_id, example.picture, example.name)
