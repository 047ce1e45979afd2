"""The labelled texts of one training, with methods that filter and sample them."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace

from chalicelib.domain.common.limits import MIN_EXAMPLES_PER_LABEL, MIN_LABELS
from chalicelib.domain.datasets.example import text_digest
from chalicelib.errors import TrainingFailed

# Examples of a label that sampling never reduces, because rare labels need all of theirs.
ALWAYS_KEPT = 50


@dataclass
class TrainingTexts:
    """Labelled texts of one or two datasets, sorted by dataset, label and id."""

    labels: list[str] = field(default_factory=list)
    """Label names of the trained dataset, then those of a global dataset."""
    label_ids: list[int] = field(default_factory=list)
    """Ids of the labels in `labels`, in the same order; labels of a global dataset have no id."""
    texts: list[str] = field(default_factory=list)
    label_indexes: list[int] = field(default_factory=list)
    """For each text, the index of its label in `labels`."""
    example_ids: list[int] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    """For each dataset in the order of the texts, its id and the number of its texts."""
    feedback_places: list[int] = field(default_factory=list)
    """Indexes of the feedback texts, ascending."""
    available: int = 0
    """Number of texts before sampling; 0 if there was no sampling."""
    descriptions: dict[str, str] = field(default_factory=dict)
    """Descriptions by label name, for labels that have one."""
    skipped: list[tuple[str, int]] = field(default_factory=list)
    """Name and number of examples of each label that was left out."""

    @property
    def feedback(self) -> int:
        """Return the number of texts that are feedback."""
        return len(self.feedback_places)

    @property
    def has_few_examples(self) -> bool:
        """Return whether most labels have fewer examples than a training normally requires."""
        counts = Counter(self.label_indexes)
        few = sum(counts[at] < MIN_EXAMPLES_PER_LABEL for at in range(len(self.labels)))
        return 2 * few > len(self.labels)

    def without_small_labels(self, minimum: int = MIN_EXAMPLES_PER_LABEL) -> TrainingTexts:
        """Remove all labels that have fewer than `minimum` texts, and their texts.

        Raises:
            TrainingFailed: fewer than two labels are left. This can occur if examples were removed
                after the training was requested.
        """
        counts = [0] * len(self.labels)
        for at in self.label_indexes:
            counts[at] += 1
        large = [at for at, count in enumerate(counts) if count >= minimum]
        if len(large) < MIN_LABELS:
            raise TrainingFailed(
                f"Only {len(large)} of {len(self.labels)} labels has at least "
                f"{minimum} examples, and a model needs at least {MIN_LABELS}. "
                "Add examples, then train again."
            )
        places = {old: new for new, old in enumerate(large)}
        kept = [place for place, at in enumerate(self.label_indexes) if at in places]
        return replace(
            self._select(kept),
            labels=[self.labels[at] for at in large],
            label_ids=[self.label_ids[at] for at in large if at < len(self.label_ids)],
            label_indexes=[places[self.label_indexes[place]] for place in kept],
            skipped=[
                (name, count)
                for name, count in zip(self.labels, counts, strict=True)
                if count < minimum
            ],
        )

    def drawn(self, limit: int, minimum: int = ALWAYS_KEPT) -> TrainingTexts:
        """Sample about `limit` texts: from each label the same fraction of its texts.

        Args:
            limit: approximate number of texts to return.
            minimum: minimum number of texts of each label. A smaller label is returned completely.

        Returns:
            The sample; all texts if there are at most `limit`.
        """
        if len(self.texts) <= limit:
            return self
        picked = self._select(self._draw(limit / len(self.texts), minimum))
        return replace(picked, available=len(self.texts))

    def _select(self, indexes: list[int]) -> TrainingTexts:
        """Return a copy with only the texts at `indexes`, which are in ascending order."""
        feedback = set(self.feedback_places)
        return replace(
            self,
            texts=[self.texts[place] for place in indexes],
            label_indexes=[self.label_indexes[place] for place in indexes],
            example_ids=[self.example_ids[place] for place in indexes],
            spans=self._spans_of(indexes),
            feedback_places=[new for new, old in enumerate(indexes) if old in feedback],
        )

    def _draw(self, share: float, minimum: int) -> list[int]:
        counts = Counter(self.label_indexes)
        rest = {
            label: max(min(count, minimum), math.floor(count * share))
            for label, count in counts.items()
        }
        # Sampling by digest depends only on the texts, so that another run draws the same texts.
        digests = [text_digest(text) for text in self.texts]
        kept = []
        for place in sorted(range(len(digests)), key=lambda place: (digests[place], place)):
            label = self.label_indexes[place]
            if rest[label]:
                rest[label] -= 1
                kept.append(place)
        return sorted(kept)

    def _spans_of(self, indexes: list[int]) -> list[tuple[int, int]]:
        spans, start = [], 0
        for dataset_id, count in self.spans:
            stop = start + count
            spans.append((dataset_id, sum(start <= place < stop for place in indexes)))
            start = stop
        return spans
