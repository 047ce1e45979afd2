"""Corrections of a dataset: what they change, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.example import Example
from chalicelib.errors import InvalidParameter, LabelNotFound, NotFound

# Maximum number of corrections of one call.
MAX_CORRECTIONS = 10_000
# Suspects below this confidence are skipped unless the caller sends another one.
MINIMUM_CONFIDENCE = 0.5


class ExampleNotFound(NotFound):
    """The caller's dataset has no example with this id."""

    code = "example_not_found"

    def __init__(self, example_id: object) -> None:
        super().__init__(f"Unable to find example {example_id}.")


@dataclass(frozen=True)
class Correction:
    """A correction of an example, as the caller sent it."""

    example_id: int
    label_id: int | None = None
    label: str | None = None
    """Name of the new label; None to keep the label."""
    is_removed: bool = False


@dataclass(frozen=True)
class ExampleChange:
    """A change of one example, after validation."""

    example_id: int
    label_id: int = 0
    """Id of the new label; 0 to keep the label."""
    document: str | None = None
    """New text; None to keep the text."""
    is_removed: bool = False


@dataclass(frozen=True)
class CorrectionResult:
    """The numbers of examples that a correction changed, and the changed examples."""

    moved: int = 0
    changed: int = 0
    removed: int = 0
    added: int = 0
    duplicates: int = 0
    """Number of examples removed because their new label already has an equal example."""
    skipped: int = 0
    """Number of flagged examples left unchanged, because they were corrected after the training
    that flagged them."""
    correction_id: int = 0
    """Id of the correction, unique in the dataset; 0 if nothing changed. It is a fence token."""
    created_at: datetime | None = None
    """Time of the correction; None if nothing changed."""
    mark: str | None = None
    """Id of the call that made the correction; None for a call without idempotency key."""
    examples: tuple[Example, ...] = ()
    """The changed examples in their new state. If several became equal, only the one that remains
    is listed."""


@dataclass
class Traces:
    """Stored data that was replaced by a correction. It is deleted once no reader needs it."""

    chunks: list[tuple[str, int]] = field(default_factory=list)
    """Partition key and number of each replaced row: a chunk or a chunk layout."""
    gone: list[int] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    """Ids of examples whose text was replaced."""


def target_label(view: DatasetView, change: Correction, at: str = "") -> int:
    """Return the id of the label that a correction sets; 0 if it does not change the label.

    Raises:
        LabelNotFound: the dataset has no label with the id in `change`.
        InvalidParameter: the dataset has no label with the name in `change`, or `change` has both
            id and name. The error text adds `at` before the parameter's name.
    """
    if change.label_id is not None and change.label is not None:
        raise InvalidParameter(f"{at}label", "send 'labelId' or 'label', one of them.")
    if change.label_id is not None:
        if view.label(change.label_id) is None:
            raise LabelNotFound(change.label_id)
        return change.label_id
    if change.label is None:
        return 0
    found = view.label_named(change.label)
    if found is None:
        names = ", ".join(label.name for label in view.labels[:20])
        raise InvalidParameter(
            f"{at}label",
            f"{change.label[:100]!r} is not a label of dataset {view.dataset.dataset_id}; it has: "
            f"{names}.",
        )
    return found.label_id
