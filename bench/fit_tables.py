"""Fits the probability that a table structure is correct, and writes the weights with their card.

Run with `python -m bench.fit_tables [--write]`, about 15 minutes. The weights are fitted only on
generated pages with tables or without any (bench/table_pages.py): text layers, and images that the
engine reads. Weights of cuts, at which text is divided, are fitted first (bench/table_cuts.py); the
structures of a family come from cuts that are fitted without this family. The command prints how
often the most probable structure is correct if its family is left out of the fit; a table without
any proposed structure counts as 0. `--write` replaces chalicelib/assets/ocr/tables.json. The same
sources give the same weights. The card records a digest of structures that are proposed, so that a
test fails if the weights are outdated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import cast

import numpy as np
from msgspec import to_builtins

from bench.bench_ocr import open_reader
from bench.ocr_document_metrics import ScoredField, calibration_error
from bench.ocr_reading import Reader, go_on
from bench.ocr_table_metrics import GridText, count_cells, count_relations
from bench.report import say
from bench.signed_fit import PENALTY, fit_ridge, fit_signed
from bench.table_cuts import cut_figures, cuts_left_out, fit_cuts, read_cuts
from bench.table_families import CUT_FAMILIES, FAMILIES
from bench.table_pages import EVERY, FITTED, TablePage, draw_table, generator_digest
from chalicelib.domain.documents.page import Point, ReadPage, TextLine
from chalicelib.engines.ocr.interface import PPOCR, TextEngine
from chalicelib.engines.ocr.tables.finder import find_tables
from chalicelib.engines.ocr.tables.scoring import (
    INPUTS,
    WEIGHTS,
    FittedWeights,
    Structure,
    TableCut,
    fitted_weights,
)

# Weights of cuts, by their direction.
Cuts = Mapping[str, FittedWeights]
IMAGES = 6
"""One page in this many is read from its image."""
RIGHT, RIGHT_CELLS = 0.95, 0.9
"""Adjacency F1, and F1 of cells, from which a structure counts as correct."""
SIGNS = {
    "joinedColumns": -1, "joinedRows": -1, "rhythm": -1, "cutByRules": -1, "wordy": -1,
    "leftOut": -1, "agreement": 1, "looseSigns": -1,
}  # fmt: skip
"""Inputs that may only raise a probability (1), or only lower it (-1)."""
WATCHED = (*EVERY[::2], *CUT_FAMILIES)
"""Families whose first page shows, by the structures proposed for it, that a fit is outdated."""


@dataclass(frozen=True)
class Case:
    """A proposed structure, and how correct it is."""

    family: str
    page: str
    inputs: tuple[float, ...]
    source: str
    f1: float
    """Adjacency F1."""
    cells: float
    """F1 of cells with text: row, column, spans and text."""

    @property
    def is_right(self) -> bool:
        """Return whether the structure is that of the drawn table."""
        return self.f1 >= RIGHT and self.cells >= RIGHT_CELLS


def read_cases(reader: Reader, cuts: Mapping[str, Cuts]) -> Iterator[Case]:
    """Yield the structures that are proposed for the tables on generated pages.

    `cuts` has the weights of cuts for each family.
    """
    for number, family in enumerate(EVERY):
        say(f"{number + 1} of {len(EVERY)}: {family}")
        for seed in FITTED:
            drawn = draw_table(family, seed)
            page = drawn.layer()
            if (seed + number) % IMAGES == 0:
                (page,) = reader.pages(drawn.png(), needs_pixels=True)
            seen = proposed_structures(reader, page, cuts[family])
            yield from page_cases(seen, page, drawn, (family, f"{family} {seed}"))


def page_cases(
    seen: Iterable[Structure], page: ReadPage, drawn: TablePage, names: tuple[str, str]
) -> Iterator[Case]:
    """Yield the structures that are proposed for the tables on one page.

    A structure is compared with the table on the page that is most similar.
    """
    places = drawn_places(page, drawn)
    truths = [
        [
            replace(cell, text=drawn_text(own, drawn, places, page.lines))
            for own, cell in table.items()
        ]
        for table in drawn.tables or ({},)
    ]
    every = range(len(drawn.sheet.lines))
    for structure in seen:
        filled = structure.filled
        found = [
            GridText(
                slot.row,
                slot.column,
                drawn_text(every, drawn, places, lines),
                slot.row_span,
                slot.column_span,
            )
            for slot, lines in zip(filled.grid.slots, filled.texts, strict=True)
        ]
        filled_cells = [cell for cell in found if cell.text]
        f1, cells = max(
            (count_relations([found], [truth]).f1, count_cells(filled_cells, truth).f1)
            for truth in truths
        )
        yield Case(*names, structure.inputs, structure.source, f1, cells)


def proposed_structures(reader: Reader, page: ReadPage, cuts: Cuts) -> list[Structure]:
    """Return the structures that are proposed for the tables on a page.

    `cuts` has the weights of cuts, by their direction.
    """
    seen: list[Structure] = []

    def remember(each: Structure | TableCut) -> float:
        if isinstance(each, TableCut):
            return cuts[each.direction].probability(each.inputs)
        seen.append(each)
        # No structure is certain here, so the network proposes one too.
        return 0.5

    find_tables(page, reader.engine, reader.structure, go_on, remember)
    return seen


def structures_digest(cuts: Cuts) -> str:
    """Return one sha256 of settings of the fit, and of the inputs of structures of text layers.

    If it changes, the code proposes or describes other structures, and a new fit is needed. Changes
    that concern only images or the network do not change it.
    """
    digest = hashlib.sha256(json.dumps([INPUTS, SIGNS, PENALTY, RIGHT, RIGHT_CELLS]).encode())
    # Pages with a text layer need no engine, and the network's structures depend on its files.
    reader = Reader(cast("TextEngine", None), None)
    for family in WATCHED:
        for structure in proposed_structures(reader, draw_table(family, FITTED[0]).layer(), cuts):
            inputs = [f"{each + 0.0:.3f}" for each in structure.inputs]
            digest.update(json.dumps([family, structure.source, inputs]).encode())
    return digest.hexdigest()


def drawn_places(page: ReadPage, drawn: TablePage) -> list[Point]:
    """Return the centres of all drawn lines, in the coordinates of the page as read."""
    scale = page.width / drawn.cut.width
    return [
        (scale * (x - drawn.cut.min_x), scale * (y - drawn.cut.min_y))
        for x, y in (line.box.center for line in drawn.sheet.lines)
    ]


def drawn_text(
    numbers: Iterable[int],
    drawn: TablePage,
    places: Sequence[Point],
    lines: Iterable[TextLine],
) -> str:
    """Return the drawn text at the place of read lines, so that misread letters do not count."""
    boxes = [line.box for line in lines]
    return " ".join(
        drawn.sheet.lines[number].text
        for number in numbers
        for x, y in (places[number],)
        if any(box.min_x - 2 <= x <= box.max_x + 2 and box.min_y <= y <= box.max_y for box in boxes)
    )


def fit(cases: Sequence[Case]) -> tuple[float, tuple[float, ...]]:
    """Return bias and weights of a logistic regression with ridge penalty, by Newton's method.

    Source: Hastie, Tibshirani, Friedman 2009, section 4.4.1.
    """
    rows = np.array([case.inputs for case in cases])
    # Each page has the same total weight, however many structures are proposed on it.
    sizes = Counter(case.page for case in cases)
    counts = np.array([len(cases) / len(sizes) / sizes[case.page] for case in cases])
    right = np.array([case.is_right for case in cases], dtype=np.float64)
    return fit_signed(fit_ridge, INPUTS, SIGNS, rows, right, counts)


def left_out(cases: Sequence[Case]) -> list[tuple[Case, float]]:
    """Return the cases, each with a probability from a fit without its family."""
    scored = []
    for family in sorted({case.family for case in cases}):
        bias, weights = fit([case for case in cases if case.family != family])
        for case in cases:
            if case.family == family:
                score = bias + np.dot(weights, case.inputs)
                scored.append((case, float(1 / (1 + np.exp(-score)))))
    return scored


def chosen(scored: Sequence[tuple[Case, float]]) -> list[tuple[Case, float, float]]:
    """Return the most probable case of each page, its probability, and the best F1 of the page."""
    pages: dict[str, list[tuple[Case, float]]] = {}
    for case, probability in scored:
        pages.setdefault(case.page, []).append((case, probability))
    return [
        (*max(some, key=lambda pair: pair[1]), max(case.f1 for case, _ in some))
        for some in pages.values()
    ]


def left_out_figures(cases: Sequence[Case]) -> dict[str, float]:
    """Return how good the most probable structures are, each scored by a fit without its family."""
    taken = chosen(left_out(cases))
    tables = [each for each in taken if each[0].family in FAMILIES]
    plain = [probability for case, probability, _ in taken if case.family not in FAMILIES]
    fields = [
        ScoredField(case.family, "", "value", probability, case.is_right)
        for case, probability, _ in taken
    ]
    count = len(FAMILIES) * len(FITTED)
    return {
        "families": len(EVERY),
        "tables": count,
        "proposed": len(tables),
        "right": sum(case.is_right for case, _, _ in tables) / count,
        "adjacencyF1": sum(case.f1 for case, _, _ in tables) / count,
        "bestProposed": sum(best for _, _, best in tables) / count,
        "pagesWithoutTables": (len(EVERY) - len(FAMILIES)) * len(FITTED),
        "tablesInvented": sum(probability >= 0.5 for probability in plain),
        "calibrationError": calibration_error(fields),
    }


def weights_file(reader: Reader) -> dict[str, object]:
    """Fit, and return the weights with their card."""
    places = list(read_cuts())
    without = cuts_left_out(places)
    cuts = fit_cuts(places)
    cases = list(read_cases(reader, dict.fromkeys(EVERY, cuts) | without))
    bias, weights = fit(cases)
    return {
        "card": {
            "title": "How likely a proposed structure of a table is right",
            "method": "logistic regression with ridge",
            "command": "python -m bench.fit_tables --write",
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "licence": "Apache-2.0",
            "inputs": [{"name": "Generated tables", "sha256": generator_digest()}],
            "structures": structures_digest(cuts),
            "familiesLeftOut": {
                name: round(figure, 3) for name, figure in left_out_figures(cases).items()
            },
            "cutsOfFamiliesLeftOut": cut_figures(places, without),
        },
        "bias": round(bias, 3),
        "weights": {name: round(weight, 3) for name, weight in zip(INPUTS, weights, strict=True)},
        "cuts": to_builtins(cuts),
    }


def main() -> int:
    """Read the tables, fit, print the figures, and with `--write` write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the weights that ship")
    arguments = parser.parse_args()
    reader = open_reader(PPOCR)
    if reader is None:
        print("The engine is absent: run make models.")
        return 2
    text = json.dumps(weights_file(reader), indent=1) + "\n"
    print(text)
    if arguments.write:
        WEIGHTS.write_text(text, encoding="utf-8")
        fitted_weights.cache_clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
