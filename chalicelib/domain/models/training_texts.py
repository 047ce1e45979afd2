"""Labelled texts as a training uses them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from chalicelib.domain.datasets.example import text_digest

# Examples of a label that a draw leaves alone.
ALWAYS_KEPT = 50


@dataclass
class TrainingTexts:
    """Labelled texts of one or two datasets, in dataset, label and id order."""

    labels: list[str] = field(default_factory=list)
    """Label names; those of a global dataset follow."""
    label_ids: list[int] = field(default_factory=list)
    """Their ids, in the order of `labels`; those of a global dataset have none."""
    texts: list[str] = field(default_factory=list)
    """All texts."""
    label_indexes: list[int] = field(default_factory=list)
    """Index into `labels`, one for each text."""
    example_ids: list[int] = field(default_factory=list)
    """Id of every example, one for each text."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Dataset id and number of its texts, in the order of `texts`."""
    feedback_places: list[int] = field(default_factory=list)
    """Which of the texts are feedback, ascending."""
    available: int = 0
    """How many there were before some were drawn; 0 when these are all."""

    @property
    def feedback(self) -> int:
        """How many of the texts are feedback."""
        return len(self.feedback_places)

    def drawn(self, limit: int, least: int = ALWAYS_KEPT) -> TrainingTexts:
        """Return at most about so many texts: an equal share of every label, at least 50 of each.

        Which ones follows from the texts alone, so that another run draws the same.

        Args:
            limit: how many can be learnt from.
            least: examples of a label that are kept in any case.

        Returns:
            These texts when they fit, else the drawn ones.
        """
        if len(self.texts) <= limit:
            return self
        kept = self._draw(limit / len(self.texts), least)
        feedback = set(self.feedback_places)
        return TrainingTexts(
            labels=self.labels,
            label_ids=self.label_ids,
            texts=[self.texts[place] for place in kept],
            label_indexes=[self.label_indexes[place] for place in kept],
            example_ids=[self.example_ids[place] for place in kept],
            spans=self._spans_of(kept),
            feedback_places=[new for new, old in enumerate(kept) if old in feedback],
            available=len(self.texts),
        )

    def _draw(self, share: float, least: int) -> list[int]:
        """Return the places that are drawn, ascending."""
        counts = Counter(self.label_indexes)
        rest = {
            label: max(min(count, least), math.floor(count * share))
            for label, count in counts.items()
        }
        digests = [text_digest(text) for text in self.texts]
        kept = []
        for place in sorted(range(len(digests)), key=lambda place: (digests[place], place)):
            label = self.label_indexes[place]
            if rest[label]:
                rest[label] -= 1
                kept.append(place)
        return sorted(kept)

    def _spans_of(self, kept: list[int]) -> list[tuple[int, int]]:
        """Count the drawn texts of every dataset; the places ascend."""
        spans, start = [], 0
        for dataset_id, count in self.spans:
            stop = start + count
            spans.append((dataset_id, sum(start <= place < stop for place in kept)))
            start = stop
        return spans
