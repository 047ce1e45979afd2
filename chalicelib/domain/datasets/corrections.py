"""What a mending changes, and what became of it."""

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
    """What shall become of an example, as it was sent."""

    example_id: int
    label_id: int | None = None
    """Label that it moves to."""
    label: str | None = None
    """Its name."""
    is_removed: bool = False
    """Whether it goes."""


@dataclass(frozen=True)
class ExampleChange:
    """What shall become of one example."""

    example_id: int
    label_id: int = 0
    """Label that it moves to; 0 for the one that it has."""
    document: str | None = None
    """Text in place of its own; None leaves that."""
    is_removed: bool = False
    """Whether it goes."""


@dataclass(frozen=True)
class CorrectionResult:
    """What a mending has done."""

    moved: int = 0
    """Examples that have another label."""
    changed: int = 0
    """Examples that have another text."""
    removed: int = 0
    """Examples that were taken out."""
    added: int = 0
    """Examples that are new: boxes of a picture."""
    duplicates: int = 0
    """Examples that are gone because their label has an equal one now."""
    skipped: int = 0
    """Suspects that were left alone because they were mended since the training."""
    correction_id: int = 0
    """Fence of its owner, unique in the dataset; 0 where nothing was changed."""
    created_at: datetime | None = None
    """When it was done; None where nothing was changed."""
    mark: str | None = None
    """Tells the call that did it from others; None for one without a key."""
    examples: tuple[Example, ...] = ()
    """The changed examples as they are now; of equal ones the one that stays."""


@dataclass
class Traces:
    """What a mending leaves to be cleared away once nobody reads it any more."""

    chunks: list[tuple[str, int]] = field(default_factory=list)
    """Sequence and number of chunks and layouts that others have taken the place of."""
    gone: list[int] = field(default_factory=list)
    """Ids of examples that are not there any more."""
    replaced: list[int] = field(default_factory=list)
    """Ids of examples that have another text."""


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
