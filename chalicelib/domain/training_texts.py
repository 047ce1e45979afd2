"""Labelled texts as a training uses them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class TrainingTexts:
    """Labelled texts of one or two datasets, in dataset, label and id order."""

    labels: list[str] = field(default_factory=list)
    """Label names; those of a global dataset follow."""
    texts: list[str] = field(default_factory=list)
    """All texts."""
    label_indexes: list[int] = field(default_factory=list)
    """Index into `labels`, one for each text."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Dataset id and number of its texts, in the order of `texts`."""
    feedback: int = 0
    """How many of the texts are feedback."""
