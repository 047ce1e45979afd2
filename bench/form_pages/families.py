"""Lists the layout families of generated forms: each arranges captions and values in one way.

A family is left out as a whole when a model is judged, so families differ in structure: where
values are relative to captions, what is ruled, how many columns there are, and other text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from bench.form_pages.boxed import (
    bottom_captions,
    boxes,
    card,
    cells,
    coded_cells,
    dense_card,
    inside_boxes,
    irregular_boxes,
    stacked_languages,
    two_languages,
)
from bench.form_pages.official import bank_table, licence, passport, pay_table, tight_grid
from bench.form_pages.rows import (
    above,
    below_rules,
    coded_lines,
    header_rows,
    hints,
    inline,
    leaders,
    letter,
    lines,
    numbered_lines,
    prose_column,
    receipt,
)
from bench.form_pages.sheet import Sheet

Draw = Callable[[Sheet], None]

FAMILIES: Mapping[str, Draw] = {
    "colon, one column": lambda sheet: lines(sheet, ":", 1),
    "colon, two columns": lambda sheet: lines(sheet, ":", 2),
    "colon, captions to the right": lambda sheet: lines(sheet, ":", 1, right=True),
    "colon, on rules": lambda sheet: lines(sheet, ":", 1, ruled=True),
    "no mark, one column": lambda sheet: lines(sheet, "", 1),
    "no mark, two columns": lambda sheet: lines(sheet, "", 2),
    "no mark, captions to the right": lambda sheet: lines(sheet, "", 1, right=True),
    "no mark, on rules, two columns": lambda sheet: lines(sheet, "", 2, ruled=True),
    "dash between": lambda sheet: lines(sheet, " -", 1),
    "leaders": lambda sheet: leaders(sheet, 1),
    "leaders, two columns": lambda sheet: leaders(sheet, 2),
    "boxes, two columns": lambda sheet: boxes(sheet, 2),
    "boxes, three columns": lambda sheet: boxes(sheet, 3),
    "boxes, numbered": lambda sheet: boxes(sheet, 2, numbered=True),
    "boxes, centred captions": lambda sheet: boxes(sheet, 3, centred=True),
    "below rules": lambda sheet: below_rules(sheet, 2, 0.75),
    "below rules, full size": lambda sheet: below_rules(sheet, 1, 1.0),
    "above": lambda sheet: above(sheet, 2),
    "above, three columns": lambda sheet: above(sheet, 3),
    "above, over rules": lambda sheet: above(sheet, 2, ruled=True),
    "cells": lambda sheet: cells(sheet, 1),
    "cells, two pairs": lambda sheet: cells(sheet, 2),
    "cells, shaded": lambda sheet: cells(sheet, 1, shaded=True),
    "header rows, ruled": lambda sheet: header_rows(sheet, 4, ruled=True),
    "header rows": lambda sheet: header_rows(sheet, 3, ruled=False),
    "numbered lines": lambda sheet: numbered_lines(sheet, 1, boxed=False),
    "numbered lines in boxes": lambda sheet: numbered_lines(sheet, 1, boxed=True),
    "numbered lines, two amounts": lambda sheet: numbered_lines(sheet, 2, boxed=False),
    "numbered lines in boxes, two amounts": lambda sheet: numbered_lines(sheet, 2, boxed=True),
    "coded lines": lambda sheet: coded_lines(sheet, "", ruled=False),
    "coded lines, ruled": lambda sheet: coded_lines(sheet, "", ruled=True),
    "lettered lines": lambda sheet: coded_lines(sheet, "ABCDEFGHIJ", ruled=False),
    "coded cells": lambda sheet: coded_cells(sheet, 1),
    "coded cells, two": lambda sheet: coded_cells(sheet, 2),
    "hints behind": lambda sheet: hints(sheet, below=False, ruled=False),
    "hints behind, on rules": lambda sheet: hints(sheet, below=False, ruled=True),
    "hints below": lambda sheet: hints(sheet, below=True, ruled=False),
    "stacked languages": lambda sheet: stacked_languages(sheet, 2, False, False),
    "stacked languages, boxes": lambda sheet: stacked_languages(sheet, 2, True, False),
    "stacked languages, three boxes": lambda sheet: stacked_languages(sheet, 3, True, False),
    "stacked languages, in lines": lambda sheet: stacked_languages(sheet, 1, False, True),
    "irregular boxes": lambda sheet: irregular_boxes(sheet, False, False),
    "irregular boxes, numbered": lambda sheet: irregular_boxes(sheet, True, False),
    "irregular boxes, amounts": lambda sheet: irregular_boxes(sheet, True, True),
    "dense card": lambda sheet: dense_card(sheet, True),
    "dense card, in lines": lambda sheet: dense_card(sheet, False),
    "inside boxes": lambda sheet: inside_boxes(sheet, 2, ""),
    "inside boxes, colon": lambda sheet: inside_boxes(sheet, 2, ":"),
    "captions at the bottom": lambda sheet: bottom_captions(sheet, 2),
    "captions at the bottom, three": lambda sheet: bottom_captions(sheet, 3),
    "next to prose": lambda sheet: prose_column(sheet, ""),
    "next to prose, colon": lambda sheet: prose_column(sheet, ":"),
    "leaders, narrow": lambda sheet: leaders(sheet, 3),
    "two fields a line": lambda sheet: inline(sheet, 2),
    "three fields a line": lambda sheet: inline(sheet, 3),
    "two languages, boxes": lambda sheet: two_languages(sheet, True, " / "),
    "two languages": lambda sheet: two_languages(sheet, False, "   "),
    "two languages, brackets": lambda sheet: two_languages(sheet, False, " ("),
    "two languages, boxes, blank": lambda sheet: two_languages(sheet, True, "    "),
    "receipt": lambda sheet: receipt(sheet, ""),
    "receipt, colons": lambda sheet: receipt(sheet, ":"),
    "letter, references below": lambda sheet: letter(sheet, above_values=True),
    "letter, references in lines": lambda sheet: letter(sheet, above_values=False),
    "card": lambda sheet: card(sheet, in_lines=False, numbered=False),
    "card, numbered, in lines": lambda sheet: card(sheet, in_lines=True, numbered=True),
    "tight grid": lambda sheet: tight_grid(sheet, numbered=False, signs=False),
    "tight grid, numbered": lambda sheet: tight_grid(sheet, numbered=True, signs=False),
    "tight grid, signs": lambda sheet: tight_grid(sheet, numbered=True, signs=True),
    "passport": lambda sheet: passport(sheet, " / "),
    "passport, gap": lambda sheet: passport(sheet, "    "),
    "licence": lambda sheet: licence(sheet, in_lines=False),
    "licence, in lines": lambda sheet: licence(sheet, in_lines=True),
    "pay table": lambda sheet: pay_table(sheet, ruled=False),
    "pay table, ruled": lambda sheet: pay_table(sheet, ruled=True),
    "bank table": lambda sheet: bank_table(sheet, ruled=False),
    "bank table, ruled": lambda sheet: bank_table(sheet, ruled=True),
}


def draw_form(family: str, seed: int) -> Sheet:
    """Draw a form of a family; the same seed gives the same form."""
    sheet = Sheet(Random(f"{family} {seed}"))
    FAMILIES[family](sheet)
    return sheet
