"""Documents with known values, prepared for fitting a form template."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chalicelib.domain.documents.page import ReadPage
from chalicelib.engines.ocr.forms.segments import LineSegment, make_segments, tilt
from chalicelib.engines.ocr.learning.captions import (
    ABOVE,
    BELOW,
    NearText,
    folded_words,
    texts_near,
)
from chalicelib.engines.ocr.learning.given_values import PageTexts

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels

# Normalised words of a caption, and its direction from the value: same line, above or below.
CaptionKey = tuple[str, str]


class PackedPage:
    """A page with compressed pixels, which saves memory: 40 raw pages need 500 MB."""

    def __init__(self, page: ReadPage) -> None:
        """Compress the pixels of a page; a page without text layer must have pixels."""
        pixels = page.pixels
        self._page = replace(page, page=replace(page.page, pixels=None, layer=None), pixels=None)
        self._shape = () if pixels is None else pixels.shape
        # The fastest level: white paper compresses well at every level.
        self._packed = b"" if pixels is None else zlib.compress(pixels.tobytes(), 1)

    def unpacked(self) -> ReadPage:
        """Return the page with its pixels, if it has any."""
        if not self._packed:
            return self._page
        flat: Pixels = np.frombuffer(zlib.decompress(self._packed), dtype=np.uint8)
        return replace(self._page, pixels=flat.reshape(self._shape))

    @property
    def is_exact(self) -> bool:
        """Whether the lines come from a text layer."""
        return self._page.is_exact

    def segments(self) -> tuple[LineSegment, ...]:
        """Return the lines of the deskewed page."""
        return make_segments(self._page.lines, tilt(self._page.lines))


@dataclass(frozen=True, eq=False)
class LearningExample:
    """A document with its values, and the texts near them."""

    pages: tuple[PackedPage, ...]
    values: Mapping[str, str]
    """The value of each entity; an empty text if the field has no value."""
    texts: Mapping[str, Mapping[CaptionKey, NearText]]
    """For each entity whose value is on the pages: the texts near the value."""
    matches: Mapping[str, str]
    """The value of each entity as it is written on the pages."""
    words: str
    """All words of the pages, normalised, for searching captions."""

    def has(self, folded: str) -> bool:
        """Return whether the normalised words `folded` occur on the pages."""
        return folded in self.words


def prepare_example(
    pages: Iterable[PackedPage], values: Mapping[str, str], check: Callable[[], None]
) -> LearningExample:
    """Find the values of a document on its pages, and the texts near them.

    Args:
        pages: the pages of the document.
        values: the value of each entity.
        check: raises when the work must stop.
    """
    packed, near, words = tuple(pages), _Near(values, check), ""
    for page in packed:
        check()
        segments = page.segments()
        near.add(PageTexts(segments, is_exact=page.is_exact))
        words += "\n".join(folded_words(segment.text) for segment in segments) + "\n"
    return LearningExample(packed, values, near.texts, near.found, words)


class _Near:
    """Collects the texts near the values of a document."""

    def __init__(self, values: Mapping[str, str], check: Callable[[], None]) -> None:
        self._values = values
        self._check = check
        self._folded = frozenset(map(folded_words, values.values())) - {" "}
        self.texts: dict[str, dict[CaptionKey, NearText]] = {}
        self.found: dict[str, str] = {}

    def add(self, texts: PageTexts) -> None:
        """Add the texts near the values of one page."""
        for entity, value in self._values.items():
            self._check()
            for place in texts.find(value):
                self.found.setdefault(entity, place.text)
                known = self.texts.setdefault(entity, {})
                for near in texts_near(texts.segments, place, self._folded):
                    direction = near.relation if near.relation in (ABOVE, BELOW) else ""
                    key = near.folded, direction
                    if key not in known or near.closeness > known[key].closeness:
                        known[key] = near
