"""Lists the examples of a dataset or label, and adds single ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.account import Account
from chalicelib.domain.dataset import (
    DELETION_PENDING,
    SOURCES,
    UPLOAD,
    DatasetView,
    Label,
)
from chalicelib.domain.example import Example, ExampleView
from chalicelib.domain.fields import checked_label
from chalicelib.domain.growth import check_can_grow
from chalicelib.domain.paging import Page
from chalicelib.domain.texts import checked_text
from chalicelib.errors import (
    DatasetNotFound,
    InvalidParameter,
    LabelNotFound,
    MissingParameter,
)
from chalicelib.stores.appends import AppendStore, NewText
from chalicelib.stores.datasets import DatasetStore
from chalicelib.stores.examples import ExampleSequence, ExampleStore
from chalicelib.stores.labels import LabelStore, owner_key


@dataclass(frozen=True)
class _Run:
    """A stretch of examples of one sequence, in list order."""

    sequence: ExampleSequence
    label: Label
    count: int


class ExampleService:
    """Examples of an account's datasets."""

    def __init__(
        self,
        datasets: DatasetStore,
        labels: LabelStore,
        examples: ExampleStore,
        appends: AppendStore,
    ) -> None:
        self._datasets = datasets
        self._labels = labels
        self._examples = examples
        self._appends = appends

    def list_dataset(
        self, account: Account, view: DatasetView, source: str, offset: int, count: int
    ) -> Page[ExampleView]:
        """List examples: uploads before feedback, then by label order, then by id.

        Raises:
            DatasetNotFound: the dataset is being deleted.
            InvalidParameter: the source is not known.
            StorageUnavailable: the storage did not answer.
        """
        _check_readable(view)
        if source not in (*SOURCES, "all"):
            raise InvalidParameter("source", f"{source[:100]!r} is none of all, feedback, upload.")
        sources = SOURCES if source == "all" else (source,)
        return self._page(list(_runs(view, sources, view.labels)), offset, count)

    def list_label(
        self, account: Account, view: DatasetView, label: Label, offset: int, count: int
    ) -> Page[ExampleView]:
        """List the examples of one label: uploads before feedback, then by id.

        Raises:
            DatasetNotFound: the dataset is being deleted.
            StorageUnavailable: the storage did not answer.
        """
        _check_readable(view)
        return self._page(list(_runs(view, SOURCES, [label])), offset, count)

    def find_label(self, account_id: str, family: str, label_id: int) -> tuple[DatasetView, Label]:
        """Find a label by its id alone.

        Raises:
            LabelNotFound: no dataset of the account in this family has it.
            StorageUnavailable: the storage did not answer.
        """
        dataset_id = self._labels.dataset_id(owner_key(account_id, family), label_id)
        dataset = dataset_id and self._datasets.find(account_id, family, dataset_id)
        view = self._labels.view(dataset) if dataset else None
        label = view.label(label_id) if view else None
        if view is None or label is None or view.dataset.status == DELETION_PENDING:
            raise LabelNotFound(label_id)
        return view, label

    def label_of(self, view: DatasetView, segment: str) -> Label:
        """Find a label by its id, or by its position in the dataset, from 0.

        Raises:
            LabelNotFound: the dataset has no such label.
        """
        if not (segment.isascii() and segment.isdigit() and len(segment) < 19):
            raise LabelNotFound(segment[:100])
        number = int(segment)
        label = view.label(number)
        if label is None and number < len(view.labels):
            label = view.labels[number]
        if label is None:
            raise LabelNotFound(number)
        return label

    def add_text(
        self,
        account: Account,
        view: DatasetView,
        document: str,
        label_id: int | None,
        label: str | None,
    ) -> ExampleView:
        """Add one text to a label, or return the equal one that is there.

        Raises:
            MissingParameter: neither label id nor label name is given.
            LabelNotFound: the dataset has no label of this id.
            InvalidParameter: the text or label is not allowed.
            DatasetNotYetAvailable: an upload is going on.
            DatasetBeingDeleted: it is being deleted.
            TooLarge: the dataset is full.
            StorageUnavailable: the outcome is not known.
        """
        text = checked_text(document)
        target = _target(view, label_id, label)
        check_can_grow(view.dataset, has_new_label=target is None)
        name = target.name if target else checked_label(label or "", view.dataset.type)
        new = NewText(text, name, target.label_id if target else 0, UPLOAD)
        example, dataset = self._appends.append(view.dataset, new)
        grown = self._labels.view(dataset).label(example.label_id)
        if grown is None:
            raise LabelNotFound(example.label_id)
        return ExampleView(example, grown, example.name)

    def _page(self, runs: Sequence[_Run], offset: int, count: int) -> Page[ExampleView]:
        """Read a stretch of the runs laid end to end."""
        items: list[ExampleView] = []
        position, end = 0, offset + count
        for run in runs:
            first, last = max(offset, position), min(end, position + run.count)
            if first < last:
                found = self._examples.read(run.sequence, first - position, last - first)
                items += [_shown(example, run.label) for example in found]
            position += run.count
        return Page(tuple(items), offset, position > end)


def _runs(view: DatasetView, sources: Sequence[str], labels: Sequence[Label]) -> Iterator[_Run]:
    """List the sequences of labels and sources in list order."""
    counts = {c.label_id: c for c in view.dataset.counts}
    for source in sources:
        for label in labels:
            sequence = ExampleSequence(view.dataset.dataset_id, source, label.label_id)
            yield _Run(sequence, label, counts[label.label_id].count(source))


def _shown(example: Example, label: Label) -> ExampleView:
    """Show a text: its location is the text itself."""
    return ExampleView(example, label, example.name)


def _target(view: DatasetView, label_id: int | None, label: str | None) -> Label | None:
    """Find the label to add to; None for a label that is new."""
    if label_id is not None:
        found = view.label(label_id)
        if found is None:
            raise LabelNotFound(label_id)
        return found
    if label is None:
        raise MissingParameter("labelId", "Either 'labelId' or 'label' is required.")
    return view.label_named(checked_label(label, view.dataset.type))


def _check_readable(view: DatasetView) -> None:
    """Hide the examples of a dataset that is being deleted."""
    if view.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(view.dataset.dataset_id)
