"""Records of delimited text and the choice of the delimiter."""

from __future__ import annotations

import io
import time

import pytest

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.delimited import (
    MAX_RECORD_CHARACTERS,
    Record,
    read_records,
    score_separator,
)


def _read(text: str, separator: str = ",") -> list[Record]:
    """Read records of a text."""
    return list(read_records(io.StringIO(text, newline=""), separator))


def test_read_records_when_quotes_hold_separators() -> None:
    """Quoted cells keep delimiters, line breaks and doubled quotes."""
    records = _read('"a, b\r\nc",x\r\n"say ""hi""",y\rplain "inner" quote,z')

    assert [record.cells for record in records] == [
        ["a, b\r\nc", "x"],
        ['say "hi"', "y"],
        ['plain "inner" quote', "z"],
    ]


@pytest.mark.parametrize(
    "broken", ['"never closed,x', '"closed" too early,x', '"a "quote" inside",x']
)
def test_read_records_when_a_quote_is_broken(broken: str) -> None:
    """A broken quote rejects its row; the following rows are read."""
    records = _read(f"one,1\n{broken}\ntwo,2\nthree,3\n")

    assert [number for number, _, fault in records if fault] == [2]
    assert [cells for _, cells, fault in records if not fault] == [
        ["one", "1"],
        ["two", "2"],
        ["three", "3"],
    ]


@pytest.mark.parametrize(
    "last",
    ["'i don't know','no'", "'i don\\'t know','no'", "so,no", f"'{'long' * 2_500}','no'"],
)
def test_read_records_when_single_quotes_do_not_fit_all_rows(last: str) -> None:
    """Single quotes are ordinary characters if the cells of one line are not in them."""
    records = _read("'text','label'\n" + "'a word','yes'\n" * 600 + last)

    assert [records[1].cells, records[-1].cells] == [["'a word'", "'yes'"], last.split(",")]
    assert not any(record.fault for record in records)


def test_read_records_when_all_cells_are_in_single_quotes() -> None:
    """Single quotes around all cells are no part of them, and two inside a cell are one."""
    records = _read("'text','label'\n'so, i don''t','no'\n\n'yes','yes'\n")

    assert [one.cells for one in records] == [
        ["text", "label"],
        ["so, i don't", "no"],
        [],
        ["yes", "yes"],
    ]


def test_read_records_when_a_quote_would_swallow_the_file() -> None:
    """A quote that stays open costs one row, not the thousands after it."""
    records = _read('"never closed,x\n' + "row,y\n" * 50_000)

    assert [number for number, _, fault in records if fault] == [1]
    assert sum(cells == ["row", "y"] for _, cells, _ in records) == 50_000


@pytest.mark.parametrize("separator", [",", "\t"])
def test_read_records_when_a_backslash_ends_a_quoted_path(separator: str) -> None:
    """A backslash before a quote does not join a row with later rows."""
    last = ['a screen of 5"', "neg"]
    rows = [['"C:\\dir\\" is gone', "pos"], *[["row", "y"]] * 100, last]
    records = _read("".join(f"{separator.join(row)}\n" for row in rows), separator)

    assert [one.number for one in records] == list(range(1, 103))
    assert records[-1].cells == last


def test_read_records_when_a_line_is_endless() -> None:
    """A line over the limit is refused and skipped, the next one is read."""
    records = _read("x" * (3 * MAX_RECORD_CHARACTERS) + ",a\nrow,b\n")

    assert "200,000" in records[0].fault
    assert records[1:] == [Record(2, ["row", "b"], "")]


def test_read_records_when_a_line_just_passes_the_limit() -> None:
    """Refusing a line just over the limit does not lose the next line."""
    records = _read("x" * MAX_RECORD_CHARACTERS + "\nrow,b\n")

    assert records[1:] == [Record(2, ["row", "b"], "")]


def test_read_records_when_every_line_reopens_a_quote() -> None:
    """A file that reopens a quote in every line is refused soon."""
    started = time.process_time()

    with pytest.raises(InvalidUpload, match=r"Too many quotes .* row \d+"):
        _read('a","b\n' * 1_000_000)

    assert time.process_time() - started < 2.0


def test_read_records_when_tabs_separate_and_quotes_are_literal() -> None:
    """In tab-separated files a leading quote in a text is literal."""
    records = _read('"hi" he said\tgreeting\n', "\t")

    assert records == [Record(1, ['"hi" he said', "greeting"], "")]


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("a\tb\n", "\t"),
        ("a,b\n", ","),
        ("hello, you\tgreet\nbye, then\tbye\n", "\t"),
        ("hello\tyou,greet\nbye,bye\n", ","),
        ("one, two, three\tx\nfour\ty\n", "\t"),
        ('"a\tb",x\n"c\td",y\n', ","),
        ("label\ttext\ngreet\thello, you\n", "\t"),
        ("lost card\tBilling, cards\nhello\tother\n", "\t"),
        ("lost card\tBilling, cards\n", "\t"),
        ('"text","label"\n', ","),
    ],
)
def test_score_separator_when_texts_hold_the_other(text: str, separator: str) -> None:
    """Commas in tab-separated texts, and the reverse, do not affect the choice."""
    other = "," if separator == "\t" else "\t"

    right = score_separator(io.StringIO(text, newline=""), separator)
    wrong = score_separator(io.StringIO(text, newline=""), other)

    assert right > wrong or (right == wrong and separator == "\t")
