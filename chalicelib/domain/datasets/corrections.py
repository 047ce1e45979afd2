"""Corrections of a dataset: requested changes of examples, and their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.example import Example
from chalicelib.errors import InvalidParameter, LabelNotFound, NotFound

# Corrections of one call.
MAX_CORRECTIONS = 10_000
# Suspects below are left alone where no other confidence is named.
MINIMUM_CONFIDENCE = 0.5


class ExampleNotFound(NotFound):
    """No example of the caller's dataset has this id."""

    code = "example_not_found"

    def __init__(self, example_id: object) -> None:
        super().__init__(f"Unable to find example {example_id}.")


@dataclass(frozen=True)
class Correction:
    """A requested correction of one example."""

    example_id: int
    label_id: int | None = None
    """Id of the new label."""
    label: str | None = None
    """Name of the new label, instead of its id."""
    is_removed: bool = False
    """Whether to remove the example."""


@dataclass(frozen=True)
class ExampleChange:
    """A validated change of one example."""

    example_id: int
    label_id: int = 0
    """Id of the new label; 0 keeps the current one."""
    document: str | None = None
    """New text; None keeps the current one."""
    is_removed: bool = False
    """Whether to remove the example."""


@dataclass(frozen=True)
class CorrectionResult:
    """Counts and examples that a correction changed."""

    moved: int = 0
    """Examples with a new label."""
    changed: int = 0
    """Examples with a new text."""
    removed: int = 0
    """Removed examples."""
    added: int = 0
    """New examples: boxes of an image."""
    duplicates: int = 0
    """Examples removed because their label already has an equal one."""
    skipped: int = 0
    """Flagged examples skipped because they were corrected after the training."""
    correction_id: int = 0
    """Fence of the lease it was made under, unique in the dataset; 0 if nothing changed."""
    created_at: datetime | None = None
    """Time of the correction; None if nothing changed."""
    mark: str | None = None
    """Mark of the call, from its idempotency key; None without a key."""
    examples: tuple[Example, ...] = ()
    """The changed examples as they are now; of equal ones, the one that remains."""


@dataclass
class Traces:
    """Data that a correction replaced, deleted once no reader can use it."""

    chunks: list[tuple[str, int]] = field(default_factory=list)
    """Sequence and number of the replaced chunks and layouts."""
    gone: list[int] = field(default_factory=list)
    """Ids of removed examples."""
    replaced: list[int] = field(default_factory=list)
    """Ids of examples with a new text."""


def target_label(view: DatasetView, change: Correction, at: str = "") -> int:
    """Find the label that an example moves to; 0 where none is named.

    Raises:
        LabelNotFound: the dataset has no label of this id.
        InvalidParameter: it has none of this name, or two are named.
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
            f"{change.label[:100]!r} is no label of dataset {view.dataset.dataset_id}; it has: "
            f"{names}.",
        )
    return found.label_id
