"""Deletes the data of a dataset, but not its row: chunks, objects, receipts, label names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

from chalicelib.domain.datasets.dataset import SOURCES
from chalicelib.stores.aws.objects import ArtifactStore, dataset_prefix, exports_prefix
from chalicelib.stores.datasets.labels import LabelStore
from chalicelib.stores.datasets.receipts import ReceiptStore
from chalicelib.stores.examples.examples import ExampleSequence, ExampleStore

# Labels between two progress reports. A report also renews the lease of the deletion.
_LABELS_AT_ONCE = 10


class DatasetContents:
    """Deletes the data of datasets. Every step may be repeated."""

    def __init__(
        self,
        examples: ExampleStore,
        labels: LabelStore,
        receipts: ReceiptStore,
        artifacts: ArtifactStore,
    ) -> None:
        self._examples = examples
        self._labels = labels
        self._receipts = receipts
        self._artifacts = artifacts

    def delete(
        self,
        dataset_id: int,
        label_ids: Iterable[int],
        report: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Delete the chunks, objects, receipts and label names of a dataset.

        `label_ids` are the ids of all labels that may have rows, including uncommitted labels.
        `report` is called with the finished fraction, 0 to 1.
        """
        ids = sorted(label_ids)
        for start in range(0, len(ids), _LABELS_AT_ONCE):
            part = ids[start : start + _LABELS_AT_ONCE]
            pairs = product(SOURCES, part)
            self._examples.delete(ExampleSequence(dataset_id, *pair) for pair in pairs)
            report((start + len(part)) / (len(ids) + 1))
        self._examples.delete_notes(dataset_id)
        self._artifacts.delete_prefix(dataset_prefix(dataset_id))
        self._artifacts.delete_prefix(exports_prefix(dataset_id))
        self._receipts.delete_all(dataset_id)
        # Last, so that a repeated deletion still finds the same labels.
        self._labels.delete(ids)
