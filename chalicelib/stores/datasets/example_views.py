"""Adds locations to examples.

The location of a text is the text itself. The location of an image is a presigned URL.

The expiry of a URL is stored in the dataset's row before the URL is returned. So the deletion of
the dataset can wait until the last URL has expired.
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
    """Adds labels and locations to the examples of a dataset."""

    def __init__(
        self, datasets: DatasetStore, labels: LabelStore, pictures: PictureStore, clock: Clock
    ) -> None:
        self._datasets = datasets
        self._labels = labels
        self._pictures = pictures
        self._clock = clock

    def show(
        self, dataset: Dataset, pairs: Sequence[tuple[Example, Label]]
    ) -> tuple[ExampleView, ...]:
        """Return views of examples and their labels, with the locations of images.

        Raises:
            DatasetNotFound: the examples are images, and the dataset is being deleted.
        """
        views = tuple(
            ExampleView(example, label, self._location(dataset, example))
            for example, label in pairs
        )
        if any(example.picture for example, _ in pairs) and not current_head_call():
            # Recorded after the URLs were made, so that none expires later than the row says.
            until = self._clock() + timedelta(seconds=IMAGE_URL_SECONDS)
            if not self._datasets.note_urls(dataset, to_milliseconds(until)):
                raise DatasetNotFound(dataset.dataset_id)
        return views

    def show_one(self, dataset: Dataset, example: Example) -> ExampleView:
        """Return one example with its label and location.

        Raises:
            LabelNotFound, DatasetNotFound: the dataset is being deleted.
        """
        label = self._labels.view(dataset).label(example.label_id)
        if label is None:
            raise LabelNotFound(example.label_id)
        return self.show(dataset, [(example, label)])[0]

    def _location(self, dataset: Dataset, example: Example) -> str:
        if not example.picture:
            return example.name
        return self._pictures.url(dataset.dataset_id, example.picture, example.name)
