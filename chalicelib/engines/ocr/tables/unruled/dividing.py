"""Divides text that consists of two tables, one below the other or next to each other.

The weights of the decision are fitted by `python -m bench.fit_tables` on generated tables only.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from statistics import fmean

from chalicelib.domain.documents.page import TextLine, around
from chalicelib.engines.ocr.tables import settings
from chalicelib.engines.ocr.tables.heading import is_value
from chalicelib.engines.ocr.tables.rows import (
    Span,
    aligned_share,
    covered,
    gaps,
    group_rows,
    joined,
    row_box,
    white_below,
)
from chalicelib.engines.ocr.tables.rulings import Rulings, row_separators
from chalicelib.engines.ocr.tables.scoring import BETWEEN_COLUMNS, BETWEEN_ROWS, TableCut, Weigh
from chalicelib.engines.ocr.tables.unruled.regions import Region

Rows = Sequence[Sequence[TextLine]]


def divided(region: Region, rulings: Rulings, text_height: float, weigh: Weigh) -> list[Region]:
    """Split a region at its most probable cut, then the parts, while a cut is probable enough."""
    if len(region.pieces) > settings.MOST_PARTS:
        return [region]
    rows = group_rows(region.pieces)
    cuts = [*_row_cuts(region, rulings, text_height), *_column_cuts(rows, rulings, text_height)]
    scored = [(weigh(cut), cut) for cut in cuts]
    probability, cut = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    if cut is None or probability < settings.SURE_CUT:
        return [region]
    parts = [Region(tuple(part), row_box(part), region.is_ruled) for part in cut.parts]
    return [each for part in parts for each in divided(part, rulings, text_height, weigh)]


def _row_cuts(region: Region, rulings: Rulings, text_height: float) -> Iterator[TableCut]:
    """Yield the gaps between rows that may be between two tables."""
    rows, least = group_rows(region.pieces), settings.FEWEST_EVIDENCE
    rules = row_separators(rulings.horizontal, around(piece.box for piece in region.pieces))
    upper, lower = _columns(rows), _columns(rows[::-1])[::-1]
    words = [1 - _number_share(row) for row in rows]
    for at in range(least, len(rows) - least + 1):
        above, row = rows[at - 1], rows[at]
        if min(len(upper[at - 1]), len(lower[at])) < 2:
            continue
        shared = len(joined([*upper[at - 1], *lower[at]]))
        crossed = bisect(rules, row_box(row).center[1]) - bisect(rules, row_box(above).center[1])
        gap = min(settings.FIRST_ROW_EMS, max(0.0, white_below(above, row)) / text_height)
        inputs = {
            # Between ruled lines as wide as the text, a gap without such a line is in one table.
            "gap": words[at] * gap if crossed or not region.is_ruled else 0.0,
            "rules": words[at] * min(2, crossed),
            "header": words[at] * (1 - fmean(words[at + 1 : at + least])),
            "lostAbove": math.log(len(upper[at - 1]) / shared),
            "lostBelow": math.log(len(lower[at]) / shared),
            "aligned": aligned_share(row, chain(*rows[at - least : at]), text_height),
        }
        yield TableCut(BETWEEN_ROWS, inputs, (list(chain(*rows[:at])), list(chain(*rows[at:]))))


def _columns(rows: Rows) -> list[list[Span]]:
    """Return, for each row, the x intervals covered by the text of this row and all rows before it.

    Rows with a single text, such as headings, are ignored.
    """
    spans = (covered(row) if len(row) > 1 else [] for row in rows)
    return list(accumulate(spans, lambda before, own: joined([*before, *own])))


def _number_share(pieces: Iterable[TextLine]) -> float:
    return fmean([is_value(piece.text) for piece in pieces] or [0.0])


def _column_cuts(rows: Rows, rulings: Rulings, text_height: float) -> Iterator[TableCut]:
    """Yield the gutters that may be between two tables of at least two columns."""
    pieces = list(chain(*rows))
    box = around(piece.box for piece in pieces)
    columns = covered(piece for row in rows if len(row) > 1 for piece in row)
    widths = [end - start for start, end in gaps(columns)]
    are_numbers = [
        2 * _number_share(p for p in pieces if start <= p.box.center[0] <= end) >= 1
        for start, end in columns
    ]
    rules = [
        rule
        for rule in rulings.horizontal
        if box.min_y - text_height < rule.position < box.max_y + text_height
    ]
    for at in range(2, len(columns) - 1):
        end, start = columns[at - 1][1], columns[at][0]
        left = group_rows(piece for piece in pieces if piece.box.center[0] < end)
        right = group_rows(piece for piece in pieces if piece.box.center[0] >= end)
        ends = row_box(left[-1]).center[1] - row_box(right[-1]).center[1]
        inputs = {
            "widerGutter": math.log(widths[at - 1] / max(widths[: at - 1] + widths[at:])),
            "sameEnd": float(2 * abs(ends) < text_height),
            "sameKinds": float(are_numbers[:2] == are_numbers[at : at + 2]),
            "manyColumns": float(2 < at < len(columns) - 2),
            "ruled": float(any(rule.start < end and rule.end > start for rule in rules)),
        }
        yield TableCut(BETWEEN_COLUMNS, inputs, (list(chain(*left)), list(chain(*right))))
