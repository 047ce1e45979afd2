"""Examples whose labels a training doubts, as they are kept with the model's version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# The example looks like another label's.
OTHER_LABEL = "otherLabel"
# Multi-label: the picture does not seem to show the label that it has.
EXTRA_LABEL = "extraLabel"
# Multi-label: the picture seems to show a label that it has not; no other one is doubted.
MISSING_LABEL = "missingLabel"


@dataclass(frozen=True, slots=True)
class SuspectExample:
    """An example whose label is probably wrong, as the training saw it."""

    example_id: int
    """The example; of a missing label, the first one of its picture."""
    digest: str
    """`Example.digest` of what was trained on, 32 hex digits: another one was changed since."""
    label_id: int
    """Label that the example had."""
    label: str
    """Its name then, as the card has it."""
    suggestion_id: int
    """Label that is suggested; 0 where none is, or where only a global dataset has it."""
    suggestion: str
    """Its name then, as the card has it."""
    confidence: float
    """Probability of the suggestion, 0 to 1."""
    reason: str
    """`otherLabel`, `extraLabel` or `missingLabel`."""


def suspects_document(suspects: Sequence[SuspectExample]) -> dict[str, Any]:
    """Return the JSON form of all suspects of a version."""
    return {"suspects": [asdict(one) for one in suspects], "object": "suspects"}


def read_suspects(document: Any) -> tuple[SuspectExample, ...]:
    """Read what `suspects_document` wrote; the most suspicious first."""
    return tuple(SuspectExample(**one) for one in document["suspects"])
