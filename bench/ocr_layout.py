"""Measures `alphabet=latin` on pages in eight languages, and `output=text` on pages in columns.

All pages are drawn with fixed seeds (bench/drawn_pages.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rapidfuzz.distance import Levenshtein

from bench.drawn_pages import SENTENCES, DrawnPage, columns_page, language_page
from bench.ocr_reading import Cost, Reader, interval
from bench.ocr_text_metrics import Tally, count_words, total
from bench.report import Bar, say
from chalicelib.domain.documents.characters import LATIN
from chalicelib.domain.documents.layout import PLAIN
from chalicelib.engines.ocr.layout.writing import write, written_blocks

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

PAGES = 10
"""Number of pages for each language, and for each number of columns."""
LANGUAGES = tuple(language for language in SENTENCES if language != "en")


def bench_layout(bench: Bench) -> None:
    """Report word F1 for each language, and the edit distance of text in columns."""
    reader = replace(bench.reader, engine=bench.reader.engine.in_alphabet(LATIN))
    for language in LANGUAGES:
        say(language)
        pages = [language_page(language, number) for number in range(PAGES)]
        tallies = [_words(reader, page) for page in pages]
        bench.add(
            f"drawn pages, {language}, latin: word F1",
            total(tallies).f1,
            Bar(0.97),
            interval=interval(tallies, lambda some: total(some).f1),
        )
    for columns in (2, 3):
        say(f"{columns} columns")
        cost = Cost()
        pages = [columns_page(columns, number) for number in range(PAGES)]
        distances = [_distance(bench.reader, page, cost) for page in pages]
        bench.add(
            f"drawn pages of {columns} columns: edit distance of the text",
            _mean(distances),
            Bar(0.02, is_ceiling=True),
            interval=interval(distances, _mean),
        )
        bench.add_cpu(f"drawn pages of {columns} columns", cost, None, None)


def _words(reader: Reader, page: DrawnPage) -> Tally:
    """Count the words that are read correctly on a page. Accents are compared, case is ignored."""
    (read,) = reader.pages(page.content)
    return count_words(page.texts, [run.text for run in reader.runs(read)])


def _distance(reader: Reader, page: DrawnPage, cost: Cost) -> float:
    """Read a page; return the edit distance to its true text, divided by the longer text's length.

    Any white space, also between lines and paragraphs, counts as one space.
    """
    with cost.document():
        (read,) = reader.pages(page.content)
        text = write([written_blocks(read, reader.runs(read), ())], PLAIN)
    truth = " ".join(" ".join(page.texts).split())
    return float(Levenshtein.normalized_distance(truth, " ".join(text.split())))


def _mean(distances: Sequence[float]) -> float:
    return sum(distances) / len(distances)
