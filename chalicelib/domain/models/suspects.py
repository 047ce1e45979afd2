"""Examples whose labels a training flags as suspicious, stored with the model version."""

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
    """An example whose label is probably wrong, as the training saw it."""

    example_id: int
    """For a missing label: the first example of its image."""
    digest: str
    """`Example.digest` in the training, 32 hex digits; another one means it has changed since."""
    label_id: int
    """Label at the time of the training."""
    label: str
    """Name of that label, as in the card."""
    suggestion_id: int
    """Suggested label; 0 for none, or for one of a global dataset."""
    suggestion: str
    """Name of the suggested label, as in the card."""
    confidence: float
    """Probability of the suggestion, 0 to 1."""
    reason: str
    """`otherLabel`, `extraLabel` or `missingLabel`."""


def suspects_document(suspects: Sequence[SuspectExample]) -> dict[str, Any]:
    """Return the JSON form of all suspects of a version."""
    return {"suspects": [asdict(one) for one in suspects], "object": "suspects"}


def read_suspects(document: Any) -> tuple[SuspectExample, ...]:
    """Parse the document that `suspects_document` returned; most suspicious first."""
    return tuple(SuspectExample(**one) for one in document["suspects"])
