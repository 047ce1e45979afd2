"""Finds things on a page by their y position, without a search of the whole page."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.forms.segments import is_level

T = TypeVar("T")


class ByTop(Generic[T]):
    """Things on a page, sorted by their upper edges; `place` returns the rectangle of a thing."""

    def __init__(self, things: Iterable[T], place: Callable[[T], Rect]) -> None:
        self._place = place
        self.every = sorted(things, key=lambda each: place(each).min_y)
        self._tops = [place(each).min_y for each in self.every]
        self._tallest = max((place(each).height for each in self.every), default=0.0)

    def between(self, low: float, high: float) -> list[T]:
        """Return the things whose upper edge is between two y positions, from the top."""
        return self.every[bisect_left(self._tops, low) : bisect_right(self._tops, high)]

    def level(self, rect: Rect) -> list[T]:
        """Return the things on the same line of text as a rectangle, from the top."""
        near = self.between(rect.min_y - self._tallest, rect.max_y)
        return [each for each in near if is_level(rect, self._place(each))]
