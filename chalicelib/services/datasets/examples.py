"""Lists the examples of a dataset or label, and adds single examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.common.limits import MAX_IMAGE_BYTES
from chalicelib.domain.common.paging import ListPage
from chalicelib.domain.datasets.dataset import (
    DELETION_PENDING,
    SOURCES,
    UPLOAD,
    Dataset,
    DatasetView,
    Label,
)
from chalicelib.domain.datasets.example import (
    ExampleView,
    NewExample,
    PictureFile,
    new_picture,
    new_text,
)
from chalicelib.domain.datasets.fields import checked_label, checked_text
from chalicelib.domain.datasets.growth import check_can_grow
from chalicelib.errors import (
    BadRequest,
    DatasetNotFound,
    InvalidParameter,
    LabelNotFound,
    MissingParameter,
)
from chalicelib.formats.pictures.content_type import content_type
from chalicelib.formats.pictures.png_exif import standardize_orientation
from chalicelib.formats.pictures.reading import check_picture
from chalicelib.stores.datasets.appends import AppendStore
from chalicelib.stores.datasets.datasets import DatasetStore
from chalicelib.stores.datasets.example_views import ExampleViews
from chalicelib.stores.datasets.labels import LabelStore, owner_key
from chalicelib.stores.examples.example_order import LabelRange, label_ranges, stretches
from chalicelib.stores.examples.examples import ExampleStore


class ExampleService:
    """Lists and adds examples.

    Additions raise DatasetNotYetAvailable while an upload is running, and DatasetBeingDeleted while
    the dataset is being deleted.
    """

    def __init__(
        self,
        datasets: DatasetStore,
        labels: LabelStore,
        examples: ExampleStore,
        appends: AppendStore,
        views: ExampleViews,
        allowances: Allowances,
    ) -> None:
        self._allowances = allowances
        self._datasets = datasets
        self._labels = labels
        self._examples = examples
        self._appends = appends
        self._views = views

    def list_dataset(
        self, account: Account, view: DatasetView, source: str, offset: int, count: int
    ) -> ListPage[ExampleView]:
        """List all examples of a dataset: uploads before feedback, then by label, then by id.

        Raises:
            DatasetNotFound: the dataset is being deleted.
            InvalidParameter: the source is unknown.
            ExampleQuotaExceeded: the monthly limit of calls that return examples is reached.
        """
        _check_readable(view)
        if source not in (*SOURCES, "all"):
            shown = source[:100]
            raise InvalidParameter("source", f"{shown!r} is not one of all, feedback, upload.")
        sources = SOURCES if source == "all" else (source,)
        runs = label_ranges(view, sources, view.labels)
        with self._allowances.example_call(account):
            return self._page(view.dataset, runs, offset, count)

    def list_label(
        self, account: Account, view: DatasetView, label: Label, offset: int, count: int
    ) -> ListPage[ExampleView]:
        """List the examples of one label: uploads before feedback, then by id.

        Raises:
            DatasetNotFound: the dataset is being deleted.
            ExampleQuotaExceeded: the monthly limit of calls that return examples is reached.
        """
        _check_readable(view)
        runs = label_ranges(view, SOURCES, [label])
        with self._allowances.example_call(account):
            return self._page(view.dataset, runs, offset, count)

    def find_label(self, account_id: str, family: str, label_id: int) -> tuple[DatasetView, Label]:
        """Find a label by its id; return the dataset and the label, or raise LabelNotFound."""
        # An old route names only the label, so its row also holds the dataset.
        dataset_id = self._labels.dataset_id(owner_key(account_id, family), label_id)
        dataset = dataset_id and self._datasets.find(account_id, family, dataset_id)
        view = self._labels.view(dataset) if dataset else None
        label = view.label(label_id) if view else None
        if view is None or label is None or view.dataset.status == DELETION_PENDING:
            raise LabelNotFound(label_id)
        return view, label

    def label_of(self, view: DatasetView, number: int) -> Label:
        """Return the label with the id `number`; if there is none, the label at this index.

        Raises:
            LabelNotFound: the dataset has no label with this id or index.
        """
        label = view.label(number)
        # A small number that is not an id is a position, as in the old API.
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
        """Add the text `document` to a label. If the label has an equal text, return its example.

        Raises:
            MissingParameter: neither label id nor label name is given.
            LabelNotFound: the dataset has no label with this id.
            InvalidParameter: the text or label is not allowed.
            TooLarge: the dataset has the maximum number of examples or bytes.
        """
        text = checked_text(document)
        target = _target(view, label_id, label)
        check_can_grow(view.dataset, has_new_label=target is None)
        name = target.name if target else checked_label(label or "", view.dataset.type)
        new = new_text(text, view.dataset.language, UPLOAD, name, target.label_id if target else 0)
        return self._append(view.dataset, new)

    def add_picture(
        self,
        account: Account,
        view: DatasetView,
        file: PictureFile,
        label_id: int | None,
        label: str | None,
    ) -> ExampleView:
        """Add one image to a label. If the label already has an equal image, return its example.

        Raises:
            MissingParameter: neither label id nor label name is given.
            LabelNotFound: the dataset has no label with this id.
            InvalidParameter: the label is not allowed.
            TooLarge: the image is over 1 MB, or the dataset has the maximum size.
            UnsupportedType: the file is not a PNG or JPEG.
            BadRequest: the image is damaged, or the dataset's type does not allow single images.
            TooManyOpen: the account has used up its storage.
        """
        target = _target(view, label_id, label)
        _check_takes_pictures(view.dataset)
        name = target.name if target else checked_label(label or "", view.dataset.type)
        file = replace(file, content=standardize_orientation(file.content))
        check_picture(file.content, MAX_IMAGE_BYTES)
        check_can_grow(view.dataset, has_new_label=target is None)
        kind = content_type(file.content)
        new = new_picture(file, kind, UPLOAD, name, target.label_id if target else 0)
        return self._append(view.dataset, new)

    def _append(self, dataset: Dataset, new: NewExample) -> ExampleView:
        example, grown = self._appends.append(dataset, new)
        return self._views.show_one(grown, example)

    def _page(
        self, dataset: Dataset, runs: Sequence[LabelRange], offset: int, count: int
    ) -> ListPage[ExampleView]:
        """Join the examples of all label ranges in `runs` into a list, and return one page."""
        parts = list(stretches(runs, offset, count))
        found = zip(parts, self._examples.read_many([part for _, part in parts]), strict=True)
        items = [(example, run.label) for (run, _), examples in found for example in examples]
        total = sum(run.count for run in runs)
        return ListPage(self._views.show(dataset, items), offset, total > offset + count)


def _target(view: DatasetView, label_id: int | None, label: str | None) -> Label | None:
    """Return the label that gets a new example; None if the label must be created."""
    if label_id is not None:
        found = view.label(label_id)
        if found is None:
            raise LabelNotFound(label_id)
        return found
    if label is None:
        raise MissingParameter("labelId", "Either 'labelId' or 'label' is required.")
    return view.label_named(checked_label(label, view.dataset.type))


def _check_readable(view: DatasetView) -> None:
    if view.dataset.status == DELETION_PENDING:
        raise DatasetNotFound(view.dataset.dataset_id)


def _check_takes_pictures(dataset: Dataset) -> None:
    if dataset.type != "image":
        raise BadRequest(
            f"Dataset {dataset.dataset_id} is of type {dataset.type}; single images are added "
            "to datasets of type image. Add a zip file with PUT upload instead.",
            code="wrong_dataset_type",
        )
