"""Suspects: examples that a training flags because their label is probably wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# The example looks like one of another label.
OTHER_LABEL = "otherLabel"
# Multi-label: the image does not seem to show a label that it has.
EXTRA_LABEL = "extraLabel"
# Multi-label: the image seems to show a label that it does not have, and all its own labels fit.
MISSING_LABEL = "missingLabel"


@dataclass(frozen=True, slots=True)
class SuspectExample:
    """An example whose label is probably wrong, with its data at the time of the training."""

    example_id: int
    """Id of the example; for `missingLabel`, the id of the image's first example."""
    digest: str
    """`Example.digest` at the training, 32 hex digits. It shows whether the example has changed."""
    label_id: int
    """Id of the label during the training."""
    label: str
    """Name of the label, as in the model card."""
    suggestion_id: int
    """Id of the suggested label; 0 if there is none or if it belongs to a global dataset."""
    suggestion: str
    """Name of the suggested label, as in the model card."""
    confidence: float
    """Probability of the suggested label, 0 to 1."""
    reason: str
    """`otherLabel`, `extraLabel` or `missingLabel`."""


def suspects_document(suspects: Sequence[SuspectExample]) -> dict[str, Any]:
    """Return the JSON form of all suspects of a version."""
    return {"suspects": [asdict(one) for one in suspects], "object": "suspects"}


def read_suspects(document: Any) -> tuple[SuspectExample, ...]:
    """Parse the JSON form of suspects, the most suspicious first."""
    return tuple(SuspectExample(**one) for one in document["suspects"])
