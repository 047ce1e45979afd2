"""Browses all examples of a dataset, or only the examples that a training flagged.

A position is an index in the browsed list. This list contains the examples of the requested labels
and sources, or the suspects (flagged examples) of a model's report. Corrections do not change
positions. So a caller that continues from `next_offset` misses no example.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import Allowances
from chalicelib.domain.datasets.dataset import SOURCES, UPLOAD, DatasetView, Label
from chalicelib.domain.datasets.example import Example, Thumbnail
from chalicelib.domain.datasets.label_names import folded
from chalicelib.domain.models.model import Model
from chalicelib.domain.models.suspects import OTHER_LABEL, SuspectExample
from chalicelib.errors import DatasetNotFound, InvalidParameter, SuspectsNotKept
from chalicelib.stores.datasets.example_views import ExampleViews
from chalicelib.stores.examples.example_order import label_ranges, stretches
from chalicelib.stores.examples.example_search import ExampleSearch, IdSearch
from chalicelib.stores.examples.examples import ExampleStore, sequence_of
from chalicelib.stores.models.versions import ModelVersions

# Time limit of one call that searches for a text, in seconds.
SCAN_SECONDS = 2.0
# Ten chunks: few reads for a search that finds little.
_SCANNED_AT_ONCE = 1_000


@dataclass(frozen=True)
class BrowsedList:
    """Selects the list of examples to browse."""

    label: Label | None = None
    """Browse only examples of this label; None for all labels."""
    source: str | None = None
    """`upload`, `feedback` or `all`; None means `all` if a label is given, otherwise `upload`."""
    suspects_of: Model | None = None
    """Browse only the suspects in this model's report, in their order; None for all examples."""
    contains: str = ""
    """Text that the text or file name must contain, ignoring case; empty for no filter."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the sources to browse, in the order in which they are listed."""
        if self.source is None and not (self.label or self.suspects_of):
            return (UPLOAD,)
        return SOURCES if self.source in (None, "all") else (self.source,)


@dataclass(frozen=True)
class BrowsedExample:
    """An example to review, with its position and its flags."""

    position: int
    """Index of the example in the browsed list, from 0."""
    source: str
    """`upload` or `feedback`."""
    example: Example
    label: Label
    suspect: SuspectExample | None = None
    """Why a training flagged the example, with present label names; None for no flag."""
    location: str = ""
    """The text of a language example; a presigned URL of a vision example."""
    thumbnail: Thumbnail | None = None
    """Thumbnail of a vision example; None if none exists yet."""


@dataclass(frozen=True)
class BrowsedPage:
    """The examples that one call returns."""

    items: tuple[BrowsedExample, ...]
    """The examples, each with `location` set."""
    next_offset: int | None
    """Position from which the next call continues; None at the end of the list."""


class ThumbnailViews(Protocol):
    """The methods of the thumbnail service that browsing uses."""

    def show(self, dataset_id: int, examples: Sequence[Example]) -> Mapping[int, Thumbnail]:
        """Return thumbnails by example id; make missing thumbnails if there is enough time."""

    def revert(self, dataset_id: int) -> None:
        """Delete the thumbnails of a deleted dataset."""


class BrowseService:
    """Browses examples."""

    def __init__(
        self,
        examples: ExampleStore,
        files: ModelVersions,
        views: ExampleViews,
        allowances: Allowances,
        thumbnails: ThumbnailViews,
    ) -> None:
        self._examples = examples
        self._search = ExampleSearch(examples)
        self._files = files
        self._views = views
        self._allowances = allowances
        self._thumbnails = thumbnails

    def browse(
        self, account: Account, view: DatasetView, query: BrowsedList, offset: int, count: int
    ) -> BrowsedPage:
        """Return examples from position `offset` on, until `count` are found or time runs out.

        Raises:
            InvalidParameter: the model was trained from another dataset than `view`.
            SuspectsNotKept: the model has no stored report of suspects.
            DatasetNotFound: the dataset is being deleted.
            BrowseQuotaExceeded: the account has browsed the maximum number of examples today.
        """
        if query.suspects_of is None:
            page = self._plain(view, query, offset, count)
        else:
            page = self._suspects(view, query, query.suspects_of, offset, count)
        pairs = [(item.example, item.label) for item in page.items]
        self._allowances.browse(account, len(pairs))
        dataset = view.dataset
        # Made before `show` stores when URLs expire, so that this time covers the thumbnails, too.
        small = self._thumbnails.show(dataset.dataset_id, [example for example, _ in pairs])
        try:
            views = self._views.show(dataset, pairs)
        except DatasetNotFound:
            self._thumbnails.revert(dataset.dataset_id)
            raise
        items = tuple(
            replace(item, location=seen.location, thumbnail=small.get(item.example.example_id))
            for item, seen in zip(page.items, views, strict=True)
        )
        return replace(page, items=items)

    def _plain(self, view: DatasetView, query: BrowsedList, offset: int, count: int) -> BrowsedPage:
        labels = view.labels if query.label is None else (query.label,)
        ranges = label_ranges(view, query.sources, labels)
        total = sum(one.count for one in ranges)

        def blocks(size: int) -> Iterator[Sequence[BrowsedExample]]:
            for start in range(offset, total, size):
                parts = list(stretches(ranges, start, size))
                read = self._examples.read_many([stretch for _, stretch in parts])
                found = [
                    (one, example)
                    for (one, _), examples in zip(parts, read, strict=True)
                    for example in examples
                ]
                yield [
                    BrowsedExample(position, one.sequence.source, example, one.label)
                    for position, (one, example) in enumerate(found, start)
                ]

        # Without a search every example matches, so a page needs just one read.
        size = _SCANNED_AT_ONCE if query.contains else count
        return _collected(blocks(size), query, offset, count, total, size)

    def _suspects(
        self, view: DatasetView, query: BrowsedList, model: Model, offset: int, count: int
    ) -> BrowsedPage:
        """Return a page of a model's suspects; skip suspects that were corrected after training."""
        listed = self._listed(view, model)
        if query.label is not None:
            listed = [one for one in listed if one.label_id == query.label.label_id]

        def blocks(size: int) -> Iterator[Sequence[BrowsedExample]]:
            for start in range(offset, len(listed), size):
                yield self._found(view, listed[start : start + size], start)

        return _collected(blocks(count), query, offset, count, len(listed), count)

    def _listed(self, view: DatasetView, model: Model) -> list[SuspectExample]:
        """Return all suspects (flagged examples) in a model's report."""
        if model.dataset_id != view.dataset.dataset_id:
            raise InvalidParameter(
                "suspectsOf",
                f"model {model.model_id} was trained from dataset {model.dataset_id}, not from "
                f"{view.dataset.dataset_id}.",
            )
        suspects = self._files.suspects(model)
        if suspects is None:
            raise SuspectsNotKept(model.model_id)
        return list(suspects)

    def _found(
        self, view: DatasetView, suspects: Sequence[SuspectExample], start: int
    ) -> list[BrowsedExample]:
        """Return the suspects that have not changed since the training, as examples to review."""
        found = self._search.find(list(_places(view, suspects)))
        items = []
        # Positions are those of the report, so a corrected suspect leaves a gap and shifts none.
        for position, one in enumerate(suspects, start):
            label = view.label(one.label_id)
            sequence, example = found.get(one.example_id, (None, None))
            if label and sequence and example and example.digest.hex() == one.digest:
                named = _named(view, one, label)
                items.append(BrowsedExample(position, sequence.source, example, label, named))
        return items


def _places(view: DatasetView, suspects: Sequence[SuspectExample]) -> Iterator[IdSearch]:
    """Yield the searches that find suspects in the uploads and the feedback of their labels."""
    counts = {c.label_id: c for c in view.dataset.counts}
    for one in suspects:
        mine = counts.get(one.label_id)
        if mine is not None:
            for source in SOURCES:
                sequence = sequence_of(view.dataset.dataset_id, source, mine)
                yield IdSearch(sequence, mine.count(source), one.example_id)


def _named(view: DatasetView, suspect: SuspectExample, label: Label) -> SuspectExample:
    """Return a suspect with the current names of its label and of the suggested label."""
    suggested = view.label(suspect.suggestion_id)
    if suspect.reason != OTHER_LABEL or suggested is None:
        return suspect
    return replace(suspect, label=label.name, suggestion=suggested.name)


def _collected(
    blocks: Iterator[Sequence[BrowsedExample]],
    query: BrowsedList,
    offset: int,
    count: int,
    total: int,
    size: int,
) -> BrowsedPage:
    """Collect a page of matching examples from `blocks`; end the page early if the time is up."""
    began, name_part = time.monotonic(), folded(query.contains)
    items: list[BrowsedExample] = []
    position = offset
    for block in blocks:
        position += size
        for item in block:
            if item.source in query.sources and name_part in folded(item.example.name):
                items.append(item)
                if len(items) == count:
                    position = item.position + 1
                    break
        # The time is checked after a block, so that each call makes progress.
        if len(items) == count or time.monotonic() - began >= SCAN_SECONDS:
            break
    return BrowsedPage(tuple(items), position if position < total else None)
