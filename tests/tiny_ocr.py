"""A fast replacement of the networks that read text: the test defines what it reads.

It keeps the contract of chalicelib/engines/ocr/interface.py, so that what stands around the
networks is tested in milliseconds; tests/flows/test_ocr.py uses the real ones.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.interface import OcrNotInstalled

Read = Callable[[Any, Callable[[], None]], Iterable[str]]


class TinyEngine:
    """Returns the lines that a function defines, one below the other, and records the calls."""

    name = "tiny"

    def __init__(self, read: Read = lambda pixels, check: ("a line",)) -> None:
        self._read = read
        self._lock = threading.Lock()
        self.pages: list[weakref.ref[Any]] = []
        """Pixels that were read, as long as anybody holds them."""
        self.alphabets: list[str] = []
        """Alphabets that were asked for."""
        self.active = self.most_active = 0
        """Pages that are read now, and most that were read at a time."""

    def in_alphabet(self, alphabet: str) -> TinyEngine:
        """Return the same engine for every alphabet, and record the alphabet."""
        self.alphabets.append(alphabet)
        return self

    def read(self, pixels: Any, check: Callable[[], None]) -> tuple[TextLine, ...]:
        """Return lines, each with a higher probability than the one before."""
        with self._lock:
            self.pages.append(weakref.ref(pixels))
            self.active += 1
            self.most_active = max(self.most_active, self.active)
        try:
            texts = [*self._read(pixels, check)]
        finally:
            with self._lock:
                self.active -= 1
        return tuple(
            TextLine(text, 0.99 - number / 10_000, Rect(5, 20 * number, 95, 20 * number + 12))
            for number, text in enumerate(texts)
        )

    def read_crops(
        self, pixels: Any, quads: Any, check: Callable[[], None]
    ) -> tuple[TextLine | None, ...]:
        """Return no text for any area."""
        return (None,) * len(quads)


class TinyPool:
    """Replaces the installed networks."""

    def __init__(self, engine: TinyEngine | None) -> None:
        self._engine = engine

    def engine(self, alphabet: str = DOCUMENTED) -> TinyEngine:
        """Return the engine."""
        if self._engine is None:
            raise OcrNotInstalled("ppocr")
        return self._engine if alphabet == DOCUMENTED else self._engine.in_alphabet(alphabet)

    def structure(self) -> None:
        """Return None, because there is no network for tables."""

    def warm(self) -> None:
        """Do nothing, because there is nothing to load."""
