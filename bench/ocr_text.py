"""Measures the task `text`: words and characters of receipts, scans, drawn pages, rotated pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench.ocr_data import Sample, read_funsd, read_rendered, read_sroie
from bench.ocr_plots import Plots, line_marks
from bench.ocr_reading import Cost, Reader, answer_pieces, interval
from bench.ocr_text_metrics import (
    Edits,
    Tally,
    count_edits,
    count_words,
    total,
    total_edits,
)
from bench.report import Bar

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

PAGE_WORDS = 366
"""Words of a page for which the limit of the processor time holds. It grows with more words."""
BAR_DEGREES = 20
"""Pages that are rotated further are reported without a bar."""


@dataclass
class TextResult:
    """The results of one reader (engine) for a set of pages."""

    tallies: list[Tally] = field(default_factory=list)
    edits: list[Edits] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    @property
    def f1(self) -> float:
        """Return the word F1 of the set."""
        return total(self.tallies).f1

    @property
    def recall(self) -> float:
        """Return the word recall of the set."""
        return total(self.tallies).recall

    @property
    def rate(self) -> float:
        """Return the character error rate of the set."""
        return total_edits(self.edits).rate


def read_set(reader: Reader, samples: Sequence[Sample], plots: Plots | None = None) -> TextResult:
    """Read a set of pages, and compare the result with the true texts."""
    result = TextResult()
    for sample in samples:
        with result.cost.document():
            (page,) = reader.pages(sample.content)
            runs = reader.runs(page)
        result.tallies.append(count_words(sample.texts, [run.text for run in runs]))
        result.edits.append(count_edits(sample.pieces, answer_pieces(page, runs)))
        if plots is not None:
            plots.page(sample.name, page, line_marks(runs))
    return result


def bench_text(bench: Bench) -> None:
    """Measure text recognition on every set of pages."""
    bench_set(bench, "receipts (SROIE)", read_sroie(bench.data), (0.88, 0.03, 1.5))
    bench_set(bench, "scans (FUNSD)", read_funsd(bench.data), (0.77, None, None))
    pages = [sample for sample, _ in read_rendered(bench.data, "text")]
    words = sum(len(text.split()) for page in pages for text in page.texts) / len(pages)
    limit = 4.5 * max(1.0, words / PAGE_WORDS)
    bench_set(bench, f"drawn A4 pages of {words:.0f} words", pages, (0.99, None, limit))
    bench_turned(bench)


def bench_set(
    bench: Bench,
    name: str,
    samples: Sequence[Sample],
    limits: tuple[float, float | None, float | None],
) -> None:
    """Report word F1, CER and cost of a set of pages. `limits` has their limits in this order."""
    found = read_set(bench.reader, samples, bench.plots)
    peer = None if bench.peer is None else read_set(bench.peer, samples)
    f1, rate, cpu = limits
    bench.add(
        f"{name}: word F1",
        found.f1,
        Bar(f1),
        peer and peer.f1,
        interval(found.tallies, lambda some: total(some).f1),
    )
    bench.add(
        f"{name}: CER",
        found.rate,
        None if rate is None else Bar(rate, is_ceiling=True),
        peer and peer.rate,
        interval(found.edits, lambda some: total_edits(some).rate),
    )
    bench.add_cpu(name, found.cost, cpu, peer and peer.cost)


def bench_turned(bench: Bench) -> None:
    """Report the word recall of rotated pages."""
    by_limit: dict[bool, list[Sample]] = {True: [], False: []}
    for sample, _ in read_rendered(bench.data, "rot"):
        degrees = abs(int(sample.name.split("_")[1]))
        by_limit[degrees <= BAR_DEGREES].append(sample)
    for is_barred, samples in by_limit.items():
        if not samples:
            continue
        found = read_set(bench.reader, samples, bench.plots)
        peer = None if bench.peer is None else read_set(bench.peer, samples)
        side = "up to" if is_barred else "beyond"
        bench.add(
            f"pages turned {side} {BAR_DEGREES} degrees: word recall",
            found.recall,
            Bar(0.98) if is_barred else None,
            peer and peer.recall,
            interval(found.tallies, lambda some: total(some).recall),
        )
