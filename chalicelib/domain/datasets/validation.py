"""Describes the dataset that an upload would create; stores nothing. See beyond.md, section 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.common.limits import (
    MAX_TRAINING_WORDS,
    MIN_EXAMPLES_PER_LABEL,
    MIN_LABELS,
)
from chalicelib.domain.datasets.dataset import DETECTION, FAMILY_TYPES, LANGUAGE
from chalicelib.domain.datasets.preview import Preview
from chalicelib.domain.datasets.receipt import UploadScan
from chalicelib.domain.datasets.upload_format import FileFormat

_SHOWN_LABELS = 10


@dataclass(frozen=True)
class Validation:
    """The dataset that an upload of a file would create."""

    format: FileFormat
    scan: UploadScan
    reasons: tuple[str, ...]
    """Reasons why the dataset could not be trained; empty if training is possible."""
    preview: Preview | None = None
    """The first rows, if the caller wants to see them."""


def find_reasons(dataset_type: str, kept_by_label: Mapping[str, int], words: int) -> list[str]:
    """Return the reasons why no model can be trained on a dataset of these examples.

    See contract section 5, Enough examples.

    `kept_by_label` has the number of examples of each label, at least 1. `words` is the number of
    words in all texts; 0 for images.

    Returns:
        One sentence for each reason, with what to do; empty if training is possible.
    """
    labels = len(kept_by_label)
    # Images need no minimum number of examples per label, and detection works with one label.
    if dataset_type not in FAMILY_TYPES[LANGUAGE]:
        if dataset_type == DETECTION or labels >= MIN_LABELS:
            return []
        return [
            f"Training needs at least {MIN_LABELS} labels that have examples; the file has "
            f"{labels}. Add examples of another label."
        ]
    reasons = []
    if labels < MIN_LABELS:
        reasons.append(
            f"Training needs at least {MIN_LABELS} labels; the file has {labels}. Add examples of "
            "another label."
        )
    short = {k: n for k, n in kept_by_label.items() if n < MIN_EXAMPLES_PER_LABEL}
    if short:
        shown = ", ".join(f"'{name}' has {n}" for name, n in list(short.items())[:_SHOWN_LABELS])
        more = f" and {len(short) - _SHOWN_LABELS} more" if len(short) > _SHOWN_LABELS else ""
        reasons.append(
            f"Each label needs at least {MIN_EXAMPLES_PER_LABEL} examples: {shown}{more}. Add "
            "examples to them."
        )
    if words > MAX_TRAINING_WORDS:
        reasons.append(
            f"The texts have {words:,} words; at most {MAX_TRAINING_WORDS:,} can be trained. "
            "Upload fewer or shorter texts."
        )
    return reasons
