"""Lists the layout families of generated forms: each arranges captions and values in one way.

A family is left out as a whole when a model is judged, so families differ in structure: where
values are relative to captions, what is ruled, how many columns there are, and other text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from bench.form_pages.accounts import (
    account_statement,
    bill,
    coded_statement,
    pay_statement,
    pay_summary,
    till_slip,
)
from bench.form_pages.blanks import blank_pages, fill
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
from bench.form_pages.identity import (
    indented_licence,
    issued_licence,
    issued_passport,
    resident_card,
)
from bench.form_pages.official import bank_table, licence, passport, pay_table, tight_grid
from bench.form_pages.paper import enlarged, patterned
from bench.form_pages.rows import (
    above,
    below_rules,
    coded_lines,
    header_rows,
    hints,
    inline,
    item_table,
    leaders,
    letter,
    lines,
    numbered_lines,
    prose_column,
    receipt,
    value_row,
)
from bench.form_pages.sheet import Sheet
from bench.form_pages.slips import information_slip, wage_slip

Draw = Callable[[Sheet], None]

GENERIC: Mapping[str, Draw] = {
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
ISSUED: Mapping[str, Draw] = {
    "wage slip": lambda sheet: wage_slip(sheet, "adjacent", numbered=True),
    "wage slip, no numbers": lambda sheet: wage_slip(sheet, "adjacent", numbered=False),
    "wage slip, amounts on top": lambda sheet: wage_slip(sheet, "over", numbered=True),
    "interest slip": lambda sheet: information_slip(sheet, "1099int", 2, numbered=True),
    "dividend slip": lambda sheet: information_slip(sheet, "1099div", 2, numbered=True),
    "fee slip": lambda sheet: information_slip(sheet, "1099nec", 1, numbered=True),
    "payment slip": lambda sheet: information_slip(sheet, "1099misc", 2, numbered=False),
    "government slip": lambda sheet: information_slip(sheet, "1099g", 1, numbered=False),
    "issued licence": lambda sheet: issued_licence(sheet, above=False, codes=True),
    "issued licence, no codes": lambda sheet: issued_licence(sheet, above=False, codes=False),
    "issued licence, captions above": lambda sheet: issued_licence(sheet, above=True, codes=True),
    "issued passport": lambda sheet: issued_passport(sheet, languages=False),
    "issued passport, three languages": lambda sheet: issued_passport(sheet, languages=True),
    "resident card": lambda sheet: resident_card(sheet, above=True),
    "resident card, in lines": lambda sheet: resident_card(sheet, above=False),
    "pay statement": lambda sheet: pay_statement(sheet, "colon", ruled=False, adjacent=False),
    "pay statement, cells": lambda sheet: pay_statement(sheet, "cells", ruled=True, adjacent=False),
    "pay statement, two tables": lambda sheet: pay_statement(sheet, "above", False, adjacent=True),
    "pay statement, plain": lambda sheet: pay_statement(sheet, "plain", True, adjacent=True),
    "bill": lambda sheet: bill(sheet, "colon", ruled=True),
    "bill, plain": lambda sheet: bill(sheet, "plain", ruled=False),
    "bill, cells": lambda sheet: bill(sheet, "cells", ruled=True),
    "bill, captions above": lambda sheet: bill(sheet, "above", ruled=False),
    "till slip": lambda sheet: till_slip(sheet, ""),
    "till slip, colons": lambda sheet: till_slip(sheet, ":"),
    "account statement": lambda sheet: account_statement(sheet, "colon", ruled=False),
    "account statement, cells": lambda sheet: account_statement(sheet, "cells", ruled=True),
    "account statement, plain": lambda sheet: account_statement(sheet, "plain", ruled=True),
    **{
        f"blank {file}, page {number}": partial(fill, file=file, number=number)
        for file, number in blank_pages()
    },
    "bill, total columns": lambda sheet: bill(sheet, "colon", ruled=True, totals=True),
    "bill, total columns, above": lambda sheet: bill(sheet, "above", ruled=False, totals=True),
    "coded statement": lambda sheet: coded_statement(sheet, ruled=False, adjacent=True),
    "coded statement, ruled": lambda sheet: coded_statement(sheet, ruled=True, adjacent=False),
    "account statement, two columns": lambda sheet: account_statement(sheet, "plain", False, 2),
    "indented licence": indented_licence,
}
"""Families of documents with the templates that ship, and of real blank forms."""
TABLES: Mapping[str, Draw] = {
    "item table": lambda sheet: item_table(sheet, ruled=False),
    "item table, ruled": lambda sheet: item_table(sheet, ruled=True),
}
"""Families with heads of columns that are also captions of sums."""
_APART = {
    "numbered lines": "rule", "cells, two pairs": "space", "tight grid, signs": "runs",
    "wage slip": "runs", "dividend slip": "rule", "payment slip": "space",
    "pay statement": "space", "pay statement, two tables": "space", "bill, plain": "runs",
    "account statement": "space",
}  # fmt: skip
_LETTERED = ("wage slip", "wage slip, amounts on top")
_JOINED = ("wage slip", "interest slip", "dividend slip", "payment slip", "government slip")


def _apart(sheet: Sheet, draw: Draw, cents: str) -> None:
    """Draw a form whose amounts have no point between dollars and cents."""
    sheet.cents = cents
    draw(sheet)


def _joined(sheet: Sheet, draw: Draw) -> None:
    """Draw a form whose text layer joins neighbouring texts, and may have no vertical rules."""
    sheet.is_joined = True
    draw(sheet)
    if sheet.random.random() < 0.5:
        sheet.rules = [rule for rule in sheet.rules if rule.width > rule.height]


def _lettered(sheet: Sheet, draw: Draw) -> None:
    """Draw a wage statement with upright letters at the sides of boxes."""
    sheet.has_side_letters = True
    draw(sheet)


_BASE = {**GENERIC, **ISSUED, **TABLES}
_VARIED: Mapping[str, tuple[str, Draw]] = {
    **{f"{name}, cents apart": (name, partial(_apart, draw=_BASE[name], cents=cents))
       for name, cents in _APART.items()},
    **{f"{name}, texts joined": (name, partial(_joined, draw=_BASE[name])) for name in _JOINED},
    **{f"{name}, letters": (name, partial(_lettered, draw=_BASE[name])) for name in _LETTERED},
}  # fmt: skip
"""Further ways to write amounts or text layers: name of the family that is drawn, and drawing."""
_PATTERNED = ("issued licence", "issued licence, captions above", "issued passport",
              "resident card", "card", "pay statement, cells")  # fmt: skip
_ENLARGED = ("issued licence, no codes", "wage slip", "pay statement", "bill, cells", "till slip",
             "account statement", "boxes, two columns", "tight grid")  # fmt: skip
_PRINTED: Mapping[str, tuple[str, Draw]] = {
    **{f"{name}, patterned": (name, partial(patterned, draw=_BASE[name])) for name in _PATTERNED},
    **{f"{name}, enlarged": (name, partial(enlarged, draw=_BASE[name])) for name in _ENLARGED},
}
"""Families on paper with a pattern, and enlarged from a small image."""
FAMILIES: Mapping[str, Draw] = {
    **_BASE,
    **{name: draw for name, (_, draw) in _VARIED.items()},
    "value row over items": lambda sheet: value_row(sheet, stacked=False),
    "stacked values": lambda sheet: value_row(sheet, stacked=True),
    "licence, holder without captions": lambda sheet: issued_licence(
        sheet, above=False, codes=True, bare=("last_name", "first_name", "address")
    ),
    "licence, holder without captions, above": lambda sheet: issued_licence(
        sheet, above=True, codes=False, bare=("last_name", "first_name", "address")
    ),
    "licence, close captions": lambda sheet: issued_licence(sheet, False, True, gap=1),
    "passport, centred lines": lambda sheet: issued_passport(sheet, False, centred=True),
    "pay statement, addresses": lambda sheet: pay_statement(sheet, "colon", False, True, True),
    "pay statement, addresses, ruled": lambda sheet: pay_statement(
        sheet, "plain", ruled=True, adjacent=False, blocks=True
    ),
    **{name: draw for name, (_, draw) in _PRINTED.items()},
    "pay summary": pay_summary,
}


def whole_family(name: str) -> str:
    """Return the family with which a family is left out, because both have the same layout."""
    return {**_VARIED, **_PRINTED}.get(name, (name,))[0]


def draw_form(family: str, seed: int) -> Sheet:
    """Draw a form of a family; the same seed gives the same form."""
    sheet = Sheet(Random(f"{family} {seed}"))
    FAMILIES[family](sheet)
    return sheet
