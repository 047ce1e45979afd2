"""What is learnt from and what is held out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from infra.finetuning.own_sentences import own_sentences
from infra.model_files.prebuilt.sentiment_data import read_sentences

_HELD_OF_256 = 26
"""About a tenth of the ratings is held out."""


@dataclass(frozen=True)
class Sentences:
    """Texts with the place of their label."""

    training: list[tuple[str, int]]
    """Learnt from: ratings and sentences of the project's own."""
    held: list[tuple[str, int]]
    """Ratings alone; temperature and metrics come from them."""


def split_sentences(ratings: Path) -> Sentences:
    """Divide the ratings by their texts' digests, the same way each time.

    Args:
        ratings: the archive of the published ratings.
    """
    rated = read_sentences(ratings)
    held = [pair for pair in rated if _is_held(pair[0])]
    training = [pair for pair in rated if not _is_held(pair[0])]
    return Sentences(training + own_sentences(), held)


def _is_held(text: str) -> bool:
    return hashlib.sha256(text.encode("utf-8")).digest()[0] < _HELD_OF_256
