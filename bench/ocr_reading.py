"""Reads files as the service reads them, with one of two text engines; measures the cost.

The CPU time of finished child processes is included: child processes draw PDFs and run Tesseract.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

from bench.ocr_text_metrics import Piece
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.interface import TextEngine
from chalicelib.engines.ocr.reading import read_page
from chalicelib.engines.ocr.runs import text_runs
from chalicelib.engines.ocr.tables.structure import StructureModel
from chalicelib.formats.documents import open_document

MAX_PAGES = 100
"""Most pages of a file; more than any evaluation file has."""
ROUNDS, SEED = 1_000, 7
"""Number of resamples of the bootstrap, and its seed."""
Measure = TypeVar("Measure")


def go_on() -> None:
    """Do nothing. Where the service checks a deadline, benchmarks call this function instead."""


@dataclass
class Cost:
    """The cost of reading each document of a set."""

    cpu: list[float] = field(default_factory=list)
    """CPU seconds of each document."""
    wall: list[float] = field(default_factory=list)
    """Wall time of each document, in seconds."""

    @contextmanager
    def document(self) -> Iterator[None]:
        """Record the CPU time and wall time of the `with` block, which reads one document."""
        cpu, wall = cpu_seconds(), time.perf_counter()
        yield
        self.cpu.append(cpu_seconds() - cpu)
        self.wall.append(time.perf_counter() - wall)

    @property
    def mean_cpu(self) -> float:
        """Return the mean CPU time of a document, in seconds."""
        return sum(self.cpu) / max(1, len(self.cpu))


def cpu_seconds() -> float:
    """Return the CPU time of this process and its finished children so far, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass(frozen=True)
class Reader:
    """Reads files with one text engine and, if given, the table network."""

    engine: TextEngine
    """Finds and reads text."""
    structure: StructureModel | None
    """Finds the cells of tables without rules; if None, alignment finds them."""

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self.engine.name

    def pages(
        self, content: bytes, *, needs_pixels: bool = False, trusts_layer: bool = True
    ) -> list[ReadPage]:
        """Read all pages of a file; with `trusts_layer` False, ignore text layers."""
        with open_document(content, MAX_PAGES) as document:
            return [
                self.read(document.page(number, needs_pixels or not trusts_layer), trusts_layer)
                for number in range(1, document.page_count + 1)
            ]

    def read(self, page: Page, trusts_layer: bool = True) -> ReadPage:
        """Read one page."""
        return read_page(page if trusts_layer else replace(page, layer=None), self.engine, go_on)

    def runs(self, page: ReadPage) -> tuple[TextLine, ...]:
        """Split a page into the items that the task `text` returns."""
        return text_runs(page, self.engine, go_on)


def answer_rect(page: ReadPage, rect: Rect) -> Rect:
    """Convert a rectangle on a page to the pixel coordinates that answers of the API use."""
    box = page.answer_box(rect)
    return Rect(box.min_x, box.min_y, box.max_x, box.max_y)


def answer_pieces(page: ReadPage, lines: Iterable[TextLine]) -> list[Piece]:
    """Convert lines of a page to the form that metrics compare."""
    return [(line.text, answer_rect(page, line.box)) for line in lines]


def interval(
    measures: Sequence[Measure], score: Callable[[Sequence[Measure]], float]
) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of a score over documents; None for 0 or 1 documents.

    Source: Efron 1979, the bootstrap, percentile interval.
    """
    if len(measures) < 2:
        return None
    rng = Random(SEED)
    scores = sorted(score(rng.choices(measures, k=len(measures))) for _ in range(ROUNDS))
    return scores[round(0.025 * ROUNDS)], scores[round(0.975 * ROUNDS) - 1]
