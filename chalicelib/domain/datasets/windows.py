"""Splits long texts into windows (sentences or parts of sentences), which are encoded separately.

A short text is a single window. The split depends only on the text. So upload, training and
prediction produce the same windows, whose vectors can be stored and used again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

# Number of words of a text that models read; the rest is ignored.
READ_WORDS = 1_200
# A text of at most this many characters is short whatever its script.
SHORT_CHARACTERS = 120
# Estimated tokens. Encoders read up to 128 at once, including begin and end.
_SHORT_TOKENS = 120
# 40 would make texts of 300 words a tenth cheaper, but lowers the accuracy of long texts.
_WINDOW_TOKENS = 32
# A shorter sentence is joined to the next one, because it often says nothing alone.
_LEAST_TOKENS = 8
_CHARACTERS_OF_TOKEN = 6
# Han and kana are written without spaces and cost about one token each. Longer runs are mostly
# codes, and are split, so that no window is longer than an encoder reads.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff]{1,60}"
)
_SENTENCE_END = re.compile(r"""[.!?…。！？]["'”’»)\]]*$""")


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A part of a text."""

    start: int
    """Index of the window's first character in the text."""
    end: int
    """Index after the window's last character."""


def find_windows(text: str) -> list[TextWindow]:
    """Return the windows of a text in order; a short text is one window.

    Each sentence is a window. But a short sentence is joined to a neighbour, and a long sentence
    is divided evenly into several windows.
    """
    if len(text) <= SHORT_CHARACTERS:
        return [TextWindow(0, len(text))]
    words = _words(text)
    costs = [_tokens(start, end) for start, end in words]
    if sum(costs) <= _SHORT_TOKENS:
        return [TextWindow(0, len(text))]
    ends = [0]
    for first, last in pairwise(_sentences(text, words, costs)):
        ends += _even_ends(costs, first, last)
    return [TextWindow(words[first][0], words[last - 1][1]) for first, last in pairwise(ends)]


def read_end(text: str) -> int:
    """Return the index of the first character that models do not read, or the text's length."""
    if len(text) <= READ_WORDS:
        return len(text)
    last = 0
    for number, found in enumerate(_WORD.finditer(text), 1):
        if number > READ_WORDS:
            return last
        last = found.end()
    return len(text)


def read_cost(text: str) -> int:
    """Estimate the number of tokens that an encoder reads for a text.

    The estimate of a long text includes the tokens that each window adds. For a text of at most
    SHORT_CHARACTERS characters, the result is the number of characters, which is an upper bound.
    """
    if len(text) <= SHORT_CHARACTERS:
        return len(text)
    tokens = sum(_tokens(start, end) for start, end in _words(text))
    # Every window of a longer text costs some tokens more.
    return tokens if tokens <= _SHORT_TOKENS else tokens + tokens // 4


def is_cut(text: str) -> bool:
    """Return whether a text has more words than the models read."""
    return len(text) > READ_WORDS and read_end(text) < len(text)


@dataclass(frozen=True, slots=True)
class WindowedTexts:
    """The windows of several texts in one list, in the order of the texts."""

    windows: Sequence[str]
    ends: Sequence[int]
    """For each text, the index in `windows` after its last window."""

    @property
    def has_long(self) -> bool:
        """Return whether any text has more than one window."""
        return len(self.windows) > len(self.ends)


def split_texts(texts: Iterable[str]) -> WindowedTexts:
    """Split texts into windows; a short text is one window, unchanged."""
    windows: list[str] = []
    ends: list[int] = []
    for text in texts:
        windows += [text[part.start : part.end] for part in find_windows(text)]
        ends.append(len(windows))
    return WindowedTexts(windows, ends)


def _words(text: str) -> list[tuple[int, int]]:
    words: list[tuple[int, int]] = []
    for found in _WORD.finditer(text):
        if len(words) == READ_WORDS:
            break
        words.append(found.span())
    return words


def _tokens(start: int, end: int) -> int:
    return 1 + (end - start - 1) // _CHARACTERS_OF_TOKEN


def _sentences(text: str, words: Sequence[tuple[int, int]], costs: Sequence[int]) -> list[int]:
    """Return the index of the first word of each sentence, followed by the number of words."""
    bounds, tokens = [0], 0
    for place, (start, end) in enumerate(words):
        tokens += costs[place]
        following = words[place + 1][0] if place + 1 < len(words) else end
        is_end = "\n" in text[end:following] or _SENTENCE_END.search(text, start, end)
        if is_end and tokens >= _LEAST_TOKENS:
            bounds.append(place + 1)
            tokens = 0
    if bounds[-1] < len(words):
        # A short rest belongs to the sentence before it.
        if tokens < _LEAST_TOKENS and len(bounds) > 1:
            bounds.pop()
        bounds.append(len(words))
    return bounds


def _even_ends(costs: Sequence[int], first: int, last: int) -> list[int]:
    """Divide a long sentence, the words `first` to `last` - 1, into windows of about equal cost.

    Returns:
        For each window, the index after its last word.
    """
    total = sum(costs[first:last])
    count = -(-total // _WINDOW_TOKENS)
    seen = 0
    ends: list[int] = []
    for place in range(first, last):
        seen += costs[place]
        if seen * count >= total * (len(ends) + 1):
            ends.append(place + 1)
    return ends
