"""Spans, which are parts of a line such as a date or a name; and functions for words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


def word_set(words: str) -> frozenset[str]:
    """Split a text at white space into a set of words."""
    return frozenset(words.split())


_FILE = Path(__file__).parents[3] / "assets" / "ocr" / "words.txt"
WORD_LISTS = dict(line.split(": ", 1) for line in _FILE.read_text("utf-8").splitlines())
"""Words of captions, labels and headers by name of their list. Names of synonyms begin with `=`."""
_TIGHT = re.compile(
    r"(?<=[a-zà-ÿ.])(?=[A-ZÀ-Þ][a-zà-ÿ])|(?<=[a-zà-ÿ]{2})(?=\d)|(?<=\d)(?=[A-ZÀ-Þ][a-zà-ÿ])"
    r"|(?<=[A-Za-z],)(?=\w)|(?<=\d,)(?=[A-Za-z])|(?<=\b[A-Z]{2})(?=\d{4})"
)
_ACCENT = re.compile("[\u0300-\u036f]")
_WORD = re.compile(r"[^\s,;:()|/\"]+")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a line that has a known kind, such as a date."""

    start: int
    """Index of the first character."""
    end: int
    """Index after the last character."""
    text: str
    """Text with reading errors corrected: for example, no spaces inside a mail address."""
    confidence: float
    """Confidence of the kind, 0 to 1."""

    def overlaps(self, other: Span) -> bool:
        """Return whether two spans overlap."""
        return self.start < other.end and other.start < self.end


def without_overlaps(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans without overlaps, sorted by their position in the line.

    If spans overlap, the span with the highest confidence is returned. If confidences are equal,
    the longest span is returned.
    """
    kept: list[Span] = []
    taken: set[int] = set()
    for span in sorted(spans, key=lambda one: (-one.confidence, one.start - one.end, one.start)):
        places = range(span.start, span.end)
        if taken.isdisjoint(places):
            taken.update(places)
            kept.append(span)
    return tuple(sorted(kept, key=lambda one: one.start))


def insert_spaces(text: str) -> str:
    """Insert the spaces that an engine missed between letters, digits and words.

    `12ElmStreet,Reno` becomes `12 Elm Street, Reno`.
    """
    return _TIGHT.sub(" ", text)


def without_accents(text: str) -> str:
    """Return a text in lower case without accents; the dotless ı and the ł have none."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _ACCENT.sub("", plain).translate({ord("ı"): "i", ord("ł"): "l"})


def words_of(text: str) -> list[str]:
    """Return the words of a text without surrounding punctuation, in unchanged case."""
    stripped = (word.strip(".'`-–—•·&*~_") for word in _WORD.findall(text))
    return [word for word in stripped if word]


def folded_words(text: str) -> list[str]:
    """Return the words of a text in lower case, without inner dots: `L.L.C.` gives `llc`."""
    return [word.lower().replace(".", "").replace("’", "'") for word in words_of(text)]
