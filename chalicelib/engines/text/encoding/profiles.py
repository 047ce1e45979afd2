"""Which encoders a training takes: the best that are installed and fit the size of the data.

Measured by bench/bench_text.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from chalicelib.domain.datasets.texts import count_words
from chalicelib.domain.jobs.spreading import spread
from chalicelib.engines.text.encoding.encoders import ACCURATE, FAST, encoder_names

# Longest time of one processor that the vectors of an accurate profile may take unasked.
BUDGET_SECONDS = 600.0
_SECONDS_PER_WORD = {"mpnet": 0.7e-3, "e5": 0.3e-3}
_WORDS_OF_A_TEXT = (
    5  # what a text costs in addition to its words: begin, end, tokeniser, the run itself
)
_CUT_WORDS = 100  # the words in 128 tokens of a long text


@dataclass(frozen=True)
class Profile:
    """A choice of encoders."""

    name: str
    """`fast` or `accurate`."""
    encoders: tuple[str, ...]
    """Their short names, sorted."""
    reason: str = ""
    """Why it was chosen, for the card."""


@dataclass(frozen=True)
class ProfileRequest:
    """What a training asks for."""

    language: str
    """Language of the dataset."""
    algorithm: str | None
    """Algorithm of the model."""
    asked: str | None
    """Profile that the request names, None when it leaves the choice to us."""

    def named(self, name: str, reason: str = "") -> Profile:
        """Return a profile for this language and algorithm."""
        return Profile(name, encoder_names(self.language, self.algorithm, name), reason)


def choose_profile(
    wanted: ProfileRequest, texts: Sequence[str], is_installed: Callable[[str], bool]
) -> Profile:
    """Choose the encoders of a training.

    Args:
        wanted: language, algorithm and the profile asked for, which is taken as it is.
        texts: all texts of the training.
        is_installed: returns whether the files of an encoder, by its name, are there.

    Returns:
        The accurate profile when it is installed and its vectors fit the budget, else the fast
        one, whether that is installed or not.
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
    """Estimate what the large encoder of a profile costs, in seconds of one processor."""
    factor = sum(_SECONDS_PER_WORD.get(name, 0.0) for name in profile.encoders)
    return factor * sum(_words(text, language) for text in texts)


def cost_relative_to_mpnet(encoders: Iterable[str]) -> float:
    """Return the cost of large encoders as a fraction of that of mpnet; 1 when it is unknown."""
    usual = _SECONDS_PER_WORD["mpnet"]
    return sum(_SECONDS_PER_WORD.get(name, usual) for name in encoders) / usual


def spread_texts(encoder: str, texts: Sequence[str], language: str) -> list[list[str]]:
    """Cut texts into parts for several workers; none where there is too little work for them.

    Args:
        encoder: its short name; those of the fast profile are too quick for parts.
        texts: texts without a vector.
        language: of the dataset.
    """
    factor = _SECONDS_PER_WORD.get(encoder, 0.0)
    return spread(texts, lambda text: factor * _words(text, language)) if factor else []


def _words(text: str, language: str) -> int:
    """Count what a text costs a large encoder, in words."""
    return _WORDS_OF_A_TEXT + min(count_words(text, language), _CUT_WORDS)
