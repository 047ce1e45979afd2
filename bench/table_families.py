"""Lists the families of generated tables: ways to rule and to fill them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NUMBERS, CODES, WORDS = "numbers", "codes", "words"
PAIRS, DATES, TEXTS = "pairs", "dates", "texts"
BELOW, RIGHT = "below", "right"


@dataclass(frozen=True)
class Family:
    """One way to rule and to fill tables."""

    rules: str
    """Which rules are drawn, such as `grid` or `rows`; see `_rules` in bench/table_pages.py."""
    body: tuple[str, ...] = (NUMBERS,)
    """Kinds of the columns after the first one."""
    first: str = WORDS
    """Kind of the first column."""
    by_rows: bool = False
    """Whether each row, instead of each column, has a kind; the first column names it."""
    header_lines: int = 1
    """Maximum number of lines of a column's name; 0 for tables without a header."""
    has_years: bool = False
    """Whether columns are named by years."""
    has_spans: bool = False
    """Whether a first row of the header names groups of columns."""
    wraps: float = 0.0
    """Fraction of the rows whose first cell has several lines."""
    more_wraps: float = 0.0
    """Fraction of the cells in columns of words that have several lines."""
    empty: float = 0.0
    """Fraction of the cells after the first column that are empty."""
    has_merges: bool = False
    """Whether some first cells cover several rows."""
    has_sums: bool = False
    """Whether there are names and amounts in two columns above and below the table, as in invoices.
    """
    has_sections: bool = False
    """Whether some rows have only a first cell, as a heading of the rows below."""
    has_corner: bool = True
    """Whether the first column has a name."""
    is_justified: bool = False
    """Whether the spaces of wrapped lines are as wide as the column needs."""
    has_leaders: bool = False
    """Whether dots lead from the first column to the values."""
    is_uneven: bool = False
    """Whether there is more space between some rows than between others."""
    has_signs: bool = False
    """Whether amounts have a currency sign far to the left of them."""
    most_columns: int = 8
    """Maximum number of columns; at least two."""
    rows: tuple[int, int] = (4, 14)
    second: str = ""
    """Where a second table is: BELOW or RIGHT; empty if there is none."""
    is_other: bool = False
    """Whether the second table has other columns than the first one."""
    has_breaks: bool = False
    """Whether there is a blank row between groups of rows."""
    has_units: bool = False
    """Whether rows of headings have texts in all columns, such as units."""
    has_wide_gutter: bool = False
    """Whether one gap between columns is much wider than the others."""


FAMILIES: Mapping[str, Family] = {
    "grid": Family("grid", (NUMBERS, WORDS)),
    "grid spans": Family("grid", has_spans=True),
    "grid merges": Family("grid", (NUMBERS, WORDS), has_merges=True),
    "grid spans merges": Family("grid", has_spans=True, has_merges=True),
    "grid sections": Family("grid", has_sections=True, rows=(6, 14)),
    "grid wraps": Family("grid", (WORDS, NUMBERS), wraps=0.5, more_wraps=0.4),
    "grid gaps": Family("grid", (NUMBERS, CODES), empty=0.35),
    "first column": Family("stub"),
    "first column words": Family("stub", (WORDS, CODES), header_lines=2),
    "groups": Family("groups", rows=(8, 20)),
    "groups words": Family("groups", (WORDS, NUMBERS, CODES), rows=(8, 18), empty=0.1),
    "groups spans": Family("groups", has_spans=True, rows=(8, 16)),
    "group rows": Family("group rows", rows=(8, 20)),
    "group rows wraps": Family("group rows", wraps=0.3, rows=(6, 14)),
    "rows": Family("rows", (NUMBERS, WORDS)),
    "rows wraps": Family("rows", (WORDS, NUMBERS), wraps=0.4, more_wraps=0.3),
    "rows gaps": Family("rows", empty=0.3, header_lines=2),
    "rows sums": Family("rows", (WORDS, NUMBERS), more_wraps=0.2, has_sums=True, rows=(3, 9)),
    "plain sums": Family("none", (NUMBERS, WORDS), has_sums=True, rows=(3, 9)),
    "three sums": Family("three", (NUMBERS,), has_sums=True, wraps=0.2, rows=(3, 9)),
    "grid sums": Family("grid", (NUMBERS, WORDS), has_sums=True, rows=(3, 9)),
    "grid two lines": Family("grid", header_lines=2),
    "columns two lines": Family("columns", (NUMBERS, CODES), header_lines=2),
    "groups two lines": Family("groups", header_lines=2, rows=(8, 16)),
    "grid text": Family("grid", (WORDS,), wraps=0.8, more_wraps=0.8, rows=(3, 9)),
    "grid text gaps": Family("grid", (WORDS, NUMBERS), wraps=0.6, more_wraps=0.9, empty=0.1),
    "rows text": Family("rows", (WORDS,), wraps=0.8, more_wraps=0.8, rows=(3, 9)),
    "three text": Family("three", (WORDS, NUMBERS), wraps=0.7, more_wraps=0.7, rows=(3, 9)),
    "grid pairs": Family("grid", (PAIRS,), rows=(3, 10)),
    "three pairs": Family("three", (PAIRS,), rows=(4, 12)),
    "three pairs spans": Family("three", (PAIRS, NUMBERS), has_spans=True, rows=(4, 12)),
    "plain pairs": Family("none", (PAIRS,), rows=(4, 12)),
    "columns": Family("columns"),
    "columns wraps": Family("columns", wraps=0.4),
    "frame": Family("frame", header_lines=2),
    "three": Family("three"),
    "three spans": Family("three", has_spans=True),
    "three wraps": Family("three", wraps=0.35),
    "three sections": Family("three", has_sections=True, rows=(8, 18)),
    "three gaps": Family("three", empty=0.25, header_lines=2),
    "three words": Family("three", (WORDS, NUMBERS), more_wraps=0.3),
    "plain": Family("none"),
    "plain wraps": Family("none", wraps=0.3),
    "plain spans": Family("none", has_spans=True),
    "plain gaps": Family("none", empty=0.2),
    "list": Family("none", (WORDS, CODES, NUMBERS), rows=(10, 26)),
    "list two lines": Family("none", (CODES, NUMBERS, WORDS), header_lines=2, rows=(10, 26)),
    "grid, no header": Family("grid", (NUMBERS, WORDS), header_lines=0),
    "rows, no header": Family("rows", (WORDS, NUMBERS), header_lines=0, more_wraps=0.2),
    "groups, no header": Family("groups", header_lines=0, rows=(8, 18)),
    "frame, no header": Family("frame", header_lines=0, empty=0.1),
    "plain, no header": Family("none", header_lines=0, rows=(5, 18)),
    "list, no header": Family("none", (WORDS, CODES, NUMBERS), header_lines=0, rows=(8, 24)),
    "grid by rows": Family("grid", (NUMBERS, WORDS, CODES), by_rows=True),
    "rows by rows": Family("rows", (NUMBERS, WORDS, DATES), by_rows=True, wraps=0.2),
    "plain by rows": Family("none", (NUMBERS, CODES, WORDS), by_rows=True, rows=(5, 14)),
    "plain by rows, no header": Family("none", (NUMBERS, DATES), by_rows=True, header_lines=0),
    "three years": Family("three", has_years=True, has_sections=True, rows=(6, 16)),
    "plain years": Family("none", has_years=True, wraps=0.2, rows=(6, 16)),
    "list of dates": Family("none", (WORDS, NUMBERS), first=DATES, rows=(8, 24)),
    "rows of dates": Family("rows", (WORDS, NUMBERS), first=DATES, more_wraps=0.3),
    "grid, no corner": Family("grid", (NUMBERS, WORDS), has_corner=False),
    "three, no corner": Family("three", has_corner=False, header_lines=2),
    "plain, no corner": Family("none", has_corner=False, rows=(5, 16)),
    "grid justified": Family(
        "grid", (WORDS, NUMBERS), wraps=0.6, more_wraps=0.8, is_justified=True, rows=(3, 9)
    ),
    "rows justified": Family(
        "rows", (WORDS, NUMBERS), wraps=0.7, more_wraps=0.4, is_justified=True
    ),
    "plain leaders": Family("none", has_leaders=True, has_corner=False, rows=(6, 18)),
    "three leaders": Family("three", has_leaders=True, has_spans=True, rows=(6, 16)),
    "plain signs": Family("none", has_signs=True, rows=(5, 14)),
    "grid signs": Family("grid", (NUMBERS, WORDS), has_signs=True, has_corner=False),
    "grid uneven": Family("grid", (NUMBERS, WORDS), is_uneven=True),
    "rows uneven": Family("rows", is_uneven=True, wraps=0.2),
    "three uneven": Family("three", is_uneven=True, rows=(6, 18)),
    "plain uneven": Family("none", (NUMBERS, WORDS), is_uneven=True, rows=(6, 18)),
    "grid of texts": Family("grid", (TEXTS, NUMBERS, WORDS), wraps=0.2, rows=(3, 8)),
    "rows of texts": Family("rows", (TEXTS, CODES), header_lines=0, rows=(3, 8)),
    "rows of texts and numbers": Family("rows", (NUMBERS, TEXTS), rows=(3, 8)),
    "stub of texts": Family("stub", (TEXTS, WORDS), is_uneven=True, rows=(3, 8)),
    "short grid": Family("grid", (WORDS, NUMBERS), wraps=0.3, rows=(1, 3)),
    "short rows": Family("rows", (WORDS, NUMBERS), more_wraps=0.2, rows=(1, 3)),
    "short plain": Family("none", (NUMBERS, WORDS, CODES), rows=(1, 3)),
    "short, no corner": Family("three", has_corner=False, rows=(2, 3)),
    "grid of two": Family("grid", (NUMBERS, WORDS), wraps=0.3, most_columns=2, rows=(3, 14)),
    "rows of two": Family("rows", wraps=0.3, most_columns=2, rows=(3, 14)),
    "three of two": Family("three", (NUMBERS, CODES), most_columns=2, rows=(3, 18)),
    "plain of two": Family("none", (NUMBERS, CODES), most_columns=2, rows=(4, 18)),
    "grid of two, no header": Family("grid", (WORDS,), most_columns=2, header_lines=0),
    "grid of codes": Family("grid", (WORDS, NUMBERS, DATES), first=CODES, empty=0.2),
    "named groups": Family("names", has_spans=True),
    "named groups, two lines": Family("names", has_spans=True, header_lines=2, empty=0.1),
    "named groups, no corner": Family("names", (NUMBERS, CODES), has_spans=True, has_corner=False),
}
CUT_FAMILIES: Mapping[str, Family] = {
    "plain, one below": Family("none", (NUMBERS, WORDS), second=BELOW, rows=(4, 9)),
    "three, one below": Family("three", (NUMBERS, CODES), second=BELOW, rows=(4, 9)),
    "rows, one below": Family("rows", (NUMBERS, WORDS), second=BELOW, rows=(4, 9)),
    "plain, other below": Family("none", second=BELOW, is_other=True, rows=(4, 9)),
    "three, other below": Family(
        "three", (NUMBERS, WORDS), second=BELOW, is_other=True, rows=(4, 9)
    ),
    "plain, one right": Family("none", second=RIGHT, is_other=True, most_columns=4),
    "three, one right": Family("three", (NUMBERS, CODES), second=RIGHT, most_columns=4),
    "rows, one right": Family("rows", second=RIGHT, is_other=True, most_columns=4),
    "plain breaks": Family("none", (NUMBERS, WORDS), has_breaks=True, rows=(6, 18)),
    "three breaks": Family("three", (NUMBERS, CODES), has_breaks=True, rows=(6, 18)),
    "three section breaks": Family("three", has_breaks=True, has_sections=True, rows=(8, 18)),
    "plain units": Family("none", has_units=True, has_sections=True, rows=(6, 18)),
    "three units": Family(
        "three", (NUMBERS, CODES), has_units=True, has_breaks=True, has_sections=True, rows=(6, 18)
    ),
    "rows breaks": Family("rows", (NUMBERS, WORDS), has_breaks=True, rows=(6, 18)),
    "plain wide": Family("none", (NUMBERS, WORDS), has_wide_gutter=True, most_columns=6),
    "three wide": Family("three", (CODES, NUMBERS), has_wide_gutter=True, most_columns=6),
    "rows wide": Family("rows", (WORDS, NUMBERS), has_wide_gutter=True, most_columns=6),
    "plain spans wide": Family("names", has_spans=True, has_wide_gutter=True, most_columns=6),
}
"""Families with two tables, or with one that looks like two, to fit where text is divided."""
