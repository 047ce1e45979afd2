"""Tests of currency signs that are printed far from their amounts."""

from __future__ import annotations

import pytest

from chalicelib.engines.ocr.interface import never_cancel
from chalicelib.engines.ocr.tables.finder import find_tables
from tests.engines.ocr.tables.drawn import Reader, Sheet, draw_rows, texts

# The rows of each table, with | between cells.
BEFORE = (
    "Item||2025||2026", "Nets|$|1,204|$|1,300", "Boats||980||990", "Ropes||310||320",
    "Total|$|2,494|$|2,610",
)  # fmt: skip
AFTER = "Part|Unit price||Qty", "Bolt|0.12|$|100", "Nut|0.05|$|250", "Rod|4.10|$|12"
NAMED = "Account|Currency|Balance", "Savings|$|1,204.50", "Current|€|310.00", "Reserve|$|88.00"
UNITS = "Item|$|%", "Nets|1,204|41", "Boats|980|33", "Ropes|310|11", "Paint|440|15"
ALONE = "Item||Note", "Nets|$|sold", "Boats|$|kept", "Ropes|$|sold", "Paint|$|kept"


@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (BEFORE, ["Item|2025|2026", "Nets|$ 1,204|$ 1,300"]),
        (AFTER, ["Part|Unit price|Qty", "Bolt|0.12 $|100"]),
        (NAMED, ["Account|Currency|Balance", "Savings|$|1,204.50"]),
        (UNITS, ["Item|$|%", "Nets|1,204|41"]),
        (ALONE, ["Item||Note", "Nets|$|sold"]),
    ],
)
def test_signs_without_a_header_are_in_the_cells_of_their_amounts(
    rows: tuple[str, ...], wanted: list[str], is_exact: bool
) -> None:
    """Signs join the amounts after or before them, unless they have a header or no amounts."""
    sheet = Sheet()
    edges, tops = draw_rows(sheet, [row.split("|") for row in rows], gap=40)
    for y in (tops[0], tops[1], tops[-1]):
        sheet.rule((50, y), (edges[-1], y))

    (table,) = find_tables(sheet.page(is_exact=is_exact), Reader(), None, never_cancel)

    assert ["|".join(row) for row in texts(table)][:2] == wanted
