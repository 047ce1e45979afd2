"""Chooses the encoders of a training: the best ones that are installed and affordable.

The constants are measured by bench/bench_text.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.texts import count_words
from chalicelib.domain.datasets.windows import READ_WORDS
from chalicelib.domain.jobs.spreading import spread
from chalicelib.engines.text.encoding.encoders import ACCURATE, FAST, encoder_names

# Longest processor time for the vectors of an accurate profile that was not requested.
BUDGET_SECONDS = 600.0
_SECONDS_PER_WORD = {"mpnet": 0.7e-3, "e5": 0.3e-3}
# The fixed cost of a text or window, in words: begin, end, tokeniser, and the run itself.
_WORDS_OF_A_TEXT = 5
# Words of a longer text per window.
_WORDS_OF_A_WINDOW = 20
_SHORT_WORDS = 90


@dataclass(frozen=True)
class Profile:
    """A choice of encoders."""

    name: str
    encoders: tuple[str, ...]
    """Short names, sorted."""
    reason: str = ""
    """Why the profile was chosen, for the card."""


@dataclass(frozen=True)
class ProfileRequest:
    """The properties of a training on which the choice of the profile depends."""

    language: str
    algorithm: str | None
    asked: str | None
    """Profile in the request; None if it leaves the choice to the service."""

    def named(self, name: str, reason: str = "") -> Profile:
        """Return a profile for this language and algorithm."""
        return Profile(name, encoder_names(self.language, self.algorithm, name), reason)


def choose_profile(
    wanted: ProfileRequest, texts: Sequence[str], is_installed: Callable[[str], bool]
) -> Profile:
    """Return the encoders of a training.

    Args:
        wanted: the request; if it names a profile, that is used.
        texts: all texts of the training.
        is_installed: returns whether the files of an encoder are installed.

    Returns:
        The accurate profile if it is installed and affordable, else the fast one.
    """
    if wanted.asked is not None:
        return wanted.named(wanted.asked, "It was asked for.")
    accurate = wanted.named(ACCURATE)
    if not all(is_installed(name) for name in accurate.encoders):
        return wanted.named(FAST, "Without a wish: the large encoder is not installed.")
    if embedding_seconds(accurate, texts, wanted.language) > BUDGET_SECONDS:
        return wanted.named(FAST, "Without a wish: the texts are too many for the large encoder.")
    return accurate


def embedding_seconds(profile: Profile, texts: Sequence[str], language: str) -> float:
    """Return the estimated processor time of the large encoders, in seconds."""
    factor = sum(_SECONDS_PER_WORD.get(name, 0.0) for name in profile.encoders)
    return factor * sum(_words(text, language) for text in texts)


def cost_relative_to_mpnet(encoders: Iterable[str]) -> float:
    """Return the cost of large encoders relative to mpnet; 1 if unknown."""
    usual = _SECONDS_PER_WORD["mpnet"]
    return sum(_SECONDS_PER_WORD.get(name, usual) for name in encoders) / usual


def spread_texts(encoder: str, texts: Sequence[str], language: str) -> list[list[str]]:
    """Split texts into parts for several workers; return none if there is little work."""
    factor = _SECONDS_PER_WORD.get(encoder, 0.0)
    return spread(texts, lambda text: factor * _words(text, language)) if factor else []


def _words(text: str, language: str) -> int:
    words = min(count_words(text, language), READ_WORDS)
    windows = 1 if words <= _SHORT_WORDS else words // _WORDS_OF_A_WINDOW
    return _WORDS_OF_A_TEXT * windows + words
