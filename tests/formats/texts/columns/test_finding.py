"""Columns of wide tables are found by content and names, or named by the caller."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest

from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.language_file import TextRow, read_rows
from chalicelib.formats.texts.language_scan import ScanRules, TextScan, scan
from tests.builders import a_csv
from tests.corpus.tables import ROWS, WideTable, wide_tables
from tests.corpus.texts import rows_of
from tests.workbooks import sheet, workbook

TABLES = {table.name: table for table in wide_tables()}
OPEN = {"issue tracker"}


def _read(table: WideTable, options: ReadingOptions) -> TextScan:
    return scan(io.BytesIO(table.content), ScanRules("en", is_sentiment=False, options=options))


@pytest.mark.parametrize("name", sorted(TABLES.keys() - OPEN))
def test_columns_are_found_without_help(name: str) -> None:
    """Exports of help desks, forms, shops and mailboxes are read by the columns people choose."""
    table = TABLES[name]
    found = _read(table, ReadingOptions())

    assert (str(found.format.text_column), str(found.format.label_column)) == (
        table.text,
        table.label,
    )
    assert found.kept + found.duplicates >= ROWS


@pytest.mark.parametrize("name", sorted(OPEN))
def test_one_choice_is_enough(name: str) -> None:
    """A table with two label columns is refused, and read once a column is named."""
    table = TABLES[name]
    with pytest.raises(InvalidUpload, match="'labelColumn'") as refused:
        _read(table, ReadingOptions())
    assert f"'{table.label}': 5 values, such as" in refused.value.detail

    found = _read(table, ReadingOptions(label_column=table.label))
    assert found.format.text_column == table.text


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("Category", "Topic"), None),  # both names are known
        (("Queue", "Colour"), None),  # neither name is known
        (("Category", "Colour"), "Category"),
        (("Colour", "Category"), "Category"),
    ],
)
def test_label_columns_of_equal_cells_are_decided_by_the_only_known_name(
    names: tuple[str, str], chosen: str | None
) -> None:
    """Between equal label columns the only known name decides; otherwise the table is refused."""
    rows = [("Words", *names)] + [
        (f"where is my parcel number {n}, please?", "abcd"[n % 4], "efgh"[n // 4 % 4])
        for n in range(64)
    ]
    table = WideTable("", rows_of(rows).encode(), "Words", chosen or names[0])
    if chosen is None:
        with pytest.raises(InvalidUpload, match=f"'{names[0]}', or 3, '{names[1]}'") as refused:
            _read(table, ReadingOptions())
        assert all(f"'{name}': 4 values, such as" in refused.value.detail for name in names)
        chosen = names[1]
        found = _read(table, ReadingOptions(label_column=chosen))
    else:
        found = _read(table, ReadingOptions())
        [message] = [one.message for one in found.warnings if one.code == "columnsGuessed"]
        assert f"the labels from column {names.index(chosen) + 2}, '{chosen}'" in message
    assert (found.format.text_column, found.format.label_column) == ("Words", chosen)


def test_label_column_is_the_one_that_the_texts_predict() -> None:
    """Of columns with unknown names, the one that depends on the words of the texts has labels."""
    kinds = {"Rot": "mein Paket kam nass an", "Gelb": "die Rechnung stimmt nicht", "Blau": "Login"}
    rows = [("ua", "ub", "uc", "ud")] + [
        ("wxyz"[n * 7 // 3 % 4], f"{kinds[name]}, Nummer {n} heute", "klm"[n // 5 % 3], name)
        for n, name in enumerate([*kinds] * 20)
    ]
    found = _read(WideTable("", rows_of(rows).encode(), "ub", "ud"), ReadingOptions())

    assert (found.format.text_column, found.format.label_column) == ("ub", "ud")
    assert "columnsGuessed" in {one.code for one in found.warnings}


def test_columns_are_joined_by_a_blank_line() -> None:
    """Several text columns are joined by a blank line; empty cells leave no gap."""
    rows = [("Subject", "Body", "Queue"), ("late", "where is it", "a"), ("", "broken", "b")]
    file = io.BytesIO(rows_of(rows).encode())
    options = ReadingOptions(text_column="Subject,Body", label_column="Queue")
    found = scan(file, ScanRules("en", is_sentiment=False, options=options))

    texts = [row.text for row in read_rows(file, layout=found.layout) if isinstance(row, TextRow)]
    assert texts == ["late\n\nwhere is it", "broken"]
    assert found.format.text_column == "Subject, Body"


def test_better_texts_than_those_of_the_named_column_are_a_warning() -> None:
    """A known name decides, and a warning names a column with longer texts."""
    rows = [("Subject", "More", "Category")]
    rows += [
        (f"late {n % 9}", f"my parcel {n} is still not here today", "ab"[n % 2]) for n in range(20)
    ]
    file = io.BytesIO(rows_of(rows).encode())
    found = scan(file, ScanRules("en", is_sentiment=False, options=ReadingOptions()))

    [message] = [one.message for one in found.warnings if one.code == "columnsGuessed"]
    assert found.format.text_column == "Subject"
    assert "column 2, 'More', has longer ones" in message


@pytest.mark.parametrize("options", [{"text_column": "text"}, {"text_column": "2"}, {}])
@pytest.mark.parametrize("header", [None, True])
def test_label_column_behind_the_last_name(options: dict[str, str], header: bool | None) -> None:
    """A label column without a name can be given by position."""
    rows = [("id", "text", "agent")] + [
        (f"T-{n}", f"where is my parcel number {n}?", f"agent {n % 3}", "ab"[n % 2])
        for n in range(20)
    ]
    asked = ReadingOptions(label_column="4", header=header, **options)
    file = io.BytesIO(rows_of(rows).encode())
    found = scan(file, ScanRules("en", is_sentiment=False, options=asked))

    read = [row for row in read_rows(file, layout=found.layout) if isinstance(row, TextRow)]
    assert {row.label for row in read if row.text.startswith("where")} == {"a", "b"}
    assert found.kept >= 20


def test_group_names_above_two_columns_are_left_out() -> None:
    """A group name that is repeated over both columns is not an example."""
    rows = [("Support", ""), ("(en)", "(en)"), ("Entry", "Team")]
    rows += [(f"parcel {at} is late", ("post", "shop")[at % 2]) for at in range(20)]
    content = io.BytesIO(a_csv(rows))

    found = scan(content, ScanRules("en", is_sentiment=False))

    assert found.kept_by_label == {"post": 10, "shop": 10}


def test_a_row_below_two_equal_cells_is_an_example() -> None:
    """Two equal cells in the first row are a group name above column names only below a title."""
    rows = [("refund", "refund"), ("card lost", "lost")]
    rows += [(f"parcel {at} is late", ("post", "shop")[at % 2]) for at in range(20)]

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False))

    assert found.kept_by_label["lost"] == 1


def test_identifiers_in_a_column_of_numbers_are_a_further_header() -> None:
    """The third header row of a survey has identifiers where the answers have numbers."""
    rows = [("Q1", "Q2", "Q3"), ("Your message", "Team", "Score")]
    rows.append(tuple(f'{{"ImportId":"QID{at}"}}' for at in (1, 2, 3)))
    rows += [(f"parcel {at} is late", ("post", "shop")[at % 2], str(at % 5)) for at in range(20)]

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False))

    assert found.kept_by_label == {"post": 10, "shop": 10}


def test_the_only_other_text_of_objects_is_the_text() -> None:
    """Objects with a label and one text of an unknown name are read, with a warning."""
    lines = [json.dumps({"id": at, "data": f"call {at} again", "label": ["a"]}) for at in range(6)]

    found = scan(io.BytesIO("\n".join(lines).encode()), ScanRules("en", is_sentiment=False))

    assert found.kept_by_label == {"a": 6}
    assert "columnsGuessed" in {warning.code for warning in found.warnings}


@pytest.mark.parametrize("header", [None, False])
@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_position_is_not_the_number_in_the_first_row(first: int, header: bool | None) -> None:
    """A class number in the first row of data is no column name, and the row is an example."""
    rows = [(str((first + at) % 4), f"title {at}", f"parcel {at} is late") for at in range(40)]
    options = ReadingOptions(text_column="2,3", label_column="1", header=header)

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))

    assert found.kept_by_label == {str(number): 10 for number in range(4)}


def test_no_number_of_a_table_without_header_is_a_name() -> None:
    """With header=false, a position beyond the table is refused, also if the first row has it."""
    rows = [(str(5 + at % 2), "x", f"parcel {at} is late") for at in range(40)]
    options = ReadingOptions(text_column="3", label_column="5", header=False)

    with pytest.raises(InvalidUpload, match="no such column"):
        scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))


def test_a_number_that_occurs_only_in_the_first_row_names_its_column() -> None:
    """Columns that pandas numbered from 0 are found by these names."""
    rows = [("0", "1", "2"), *((str(at + 9), f"text {at}", "ab"[at % 2]) for at in range(40))]
    options = ReadingOptions(text_column="1", label_column="2")

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))

    assert found.kept_by_label == {"a": 20, "b": 20}


def test_numbers_next_to_a_known_name_are_names() -> None:
    """A column named 2 is found by this name, although the cells below it repeat the numbers."""
    rows = [("text", "0", "1", "2"), *((f"text {at}", "0", "1", "ab"[at % 2]) for at in range(40))]
    options = ReadingOptions(text_column="1", label_column="2")

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))

    assert found.kept_by_label == {"a": 1, "b": 1}


@pytest.mark.parametrize("asked", [{"text_column": "0"}, {"label_column": "0"}])
def test_positions_count_from_one(asked: dict[str, str]) -> None:
    """The position 0 is refused; it is not the last column."""
    rows = [("nr", "text", "label"), *((f"n{at}", f"text {at}", "a") for at in range(9))]
    options = ReadingOptions(**asked)

    with pytest.raises(InvalidUpload, match="no such column"):
        scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))


def test_a_name_of_several_columns_is_flagged() -> None:
    """The first of several columns with the requested name is read, with a warning."""
    rows = [
        ("body", "body", "label"),
        *((f"old {at}", f"new {at}", "ab"[at % 2]) for at in range(20)),
    ]
    options = ReadingOptions(text_column="body", label_column="label")

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))

    assert [warning.code for warning in found.warnings] == ["columnsGuessed"]
    assert "The columns 1, 2 are named 'body'" in found.warnings[0].message


def test_sheets_count_from_one() -> None:
    """The sheet 0 is refused; it is not the last sheet."""
    content = workbook({"May": sheet([["text", "label"], ["one", "a"]])})
    options = ReadingOptions(sheet="0")

    with pytest.raises(InvalidUpload, match="the workbook has the sheets 'May'"):
        scan(io.BytesIO(content), ScanRules("en", is_sentiment=False, options=options))


@pytest.mark.parametrize(
    ("header", "cells", "text"),
    [
        (("text", "0", "1", "2"), "01", "text"),
        (("note", "2023", "2024", "Other"), ("Other", "x"), "1"),
    ],
)
def test_a_name_in_the_request_says_that_numbers_are_names_too(
    header: tuple[str, ...], cells: Sequence[str], text: str
) -> None:
    """A column named by a number is read by its name, also if the first row's cells occur below."""
    rows = [header]
    rows += [(f"parcel {at} is late", *(cells[at >> n & 1] for n in range(3))) for at in range(40)]
    at = 3 if text == "text" else 2
    options = ReadingOptions(text_column=text, label_column=header[at])

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False, options=options))

    assert (found.layout.label_at, found.kept) == (at, 40)


@pytest.mark.parametrize("orders", [("N26",), ("B-102", "B-103")])
def test_first_examples_with_another_kind_of_number_are_kept(orders: tuple[str, ...]) -> None:
    """Examples with a label of their own and an order such as B-102 are no further header."""
    rows = [("message", "category", "order")]
    rows += [(f"where {order} is", f"lost {at}", order) for at, order in enumerate(orders)]
    rows += [(f"parcel {at} is late", ("post", "shop")[at % 2], str(at + 99)) for at in range(40)]

    found = scan(io.BytesIO(a_csv(rows)), ScanRules("en", is_sentiment=False))

    assert found.kept == 40 + len(orders)


def _objects(**more: list[Any]) -> io.BytesIO:
    """Return JSON lines with a label and further members; None stands for a missing member."""
    rows = ({name: cells[at % len(cells)] for name, cells in more.items()} for at in range(40))
    lines = (
        {"label": "ab"[at % 2], **{name: cell for name, cell in row.items() if cell is not None}}
        for at, row in enumerate(rows)
    )
    return io.BytesIO("\n".join(map(json.dumps, lines)).encode())


_SOURCES = [f"shop of {name}" for name in (f"Ann{'n' * at}" for at in range(40))]
_CALLS = [f"call {at} again" for at in range(40)]


@pytest.mark.parametrize(
    "members",
    [
        {"country": _SOURCES, "message": [None, *_CALLS[1:]]},
        {"country": _SOURCES, "said": [None, *_CALLS[1:]]},
        {"country": _SOURCES, "said": [{"body": call} for call in _CALLS]},
        {"country": _SOURCES[:4], "said": [None] * 40},
        {"country": [*_SOURCES[:3], None]},
    ],
)
def test_a_source_or_an_author_is_not_the_text(members: dict[str, list[Any]]) -> None:
    """Objects are refused if their only text may be another one than the text of the example."""
    with pytest.raises(InvalidUpload):
        scan(_objects(**members), ScanRules("en", is_sentiment=False))
