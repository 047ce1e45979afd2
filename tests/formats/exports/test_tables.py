"""Tables as CSV and as workbooks: what is written, and in how much memory."""

from __future__ import annotations

import csv
import io
import tracemalloc
import zipfile
from collections.abc import Iterator

import pytest
from python_calamine import CalamineWorkbook

from chalicelib.formats.exports import tables
from chalicelib.formats.exports.tables import estimate, hide_formula, stream_csv, stream_workbook
from chalicelib.formats.texts.workbook import convert_sheet
from tests.full_size import size

ROWS = size(20_000, 1_000_000)
HEAD = ["id", "text", "label", "probability"]


def some_rows(count: int) -> Iterator[list[tables.Cell]]:
    """Yield rows of a support table, each different."""
    for n in range(count):
        yield [f"{n:07d}", f"Where is parcel {n}? It <never> came & I'm waiting.", "delivery", 0.5]


def read(content: bytes) -> list[list[object]]:
    """Read the only sheet of a workbook."""
    return CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()


@pytest.mark.parametrize(
    "cell",
    [
        *("=1+1", "+1", "-1", "@a", "007", "1e5", "TRUE", "2026-01-01", "<&>\"'é€😀"),
        *(" x ", "a\tb\nc", "a\r\nb", "x\x00\x08\x1fy", "_x0041_", "a_x000D_b"),
        *(12, 0.1, -3.0, 1e300, True),
    ],
)
def test_a_workbook_has_the_cells_as_they_were(cell: tables.Cell) -> None:
    """Texts stay texts, also those that look like formulas, numbers or escapes."""
    content = b"".join(stream_workbook("s", ["a", "b"], [["", cell], [cell, "end"]]))
    assert read(content) == [["a", "b"], ["", cell], [cell, "end"]]
    assert b"<f>" not in zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")


def test_names_of_sheets_are_valid() -> None:
    """An invalid sheet name is shortened and cleaned."""
    for name, expected in (("R&D \"x\"", "R&D \"x\""), ("a/b[c]", "a b c"), ("", "Sheet1"),
                           ("n" * 40, "n" * 31)):  # fmt: skip
        content = b"".join(stream_workbook(name, ["a"], []))
        assert CalamineWorkbook.from_filelike(io.BytesIO(content)).sheet_names == [expected]


def test_half_of_a_surrogate_pair_is_replaced() -> None:
    """A lone surrogate is replaced instead of ending the stream."""
    assert read(b"".join(stream_workbook("s", ["a"], [["x\ud800\ufffe"]]))) == [
        ["a"],
        ["x\ufffd\ufffd"],
    ]
    assert b"".join(stream_csv(["a"], [["x\ud800"]])) == b"a\r\nx?\r\n"


def test_a_result_can_be_sent_as_input() -> None:
    """The service can read the workbooks it writes."""
    content = b"".join(stream_workbook("Tickets", HEAD, some_rows(3)))
    found = convert_sheet(io.BytesIO(content), "", lambda: None)
    rows = list(csv.reader(io.StringIO(found.rows.read().decode())))
    assert (found.name, rows[0], rows[3][0]) == ("Tickets", HEAD, "0000002")


def test_the_same_rows_make_the_same_bytes() -> None:
    """Equal rows give equal bytes, so that a repeated step writes the same workbook."""
    first, second = (b"".join(stream_workbook("s", HEAD, some_rows(50))) for _ in range(2))
    assert first == second


def test_a_large_sheet_has_the_long_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sheet that may exceed 4 GB is written with 64-bit sizes."""
    monkeypatch.setattr(tables, "_LONG_ZIP_BYTES", 1)
    content = b"".join(stream_workbook("s", HEAD, some_rows(3), estimate(12, 300)))
    assert read(content)[3][0] == "0000002"
    short = b"".join(stream_workbook("s", HEAD, some_rows(3)))
    assert len(content) > len(short)


def test_an_estimate_is_never_too_small() -> None:
    """The estimated size is never too small, even if every character is escaped."""
    for cell in ("\x08" * 500, "&" * 500, "é" * 500, "x", "_x0041_" * 50):
        rows: list[list[tables.Cell]] = [[cell] * 5] * 20
        content = b"".join(stream_workbook("s", ["a"], rows))
        [member] = [
            m for m in zipfile.ZipFile(io.BytesIO(content)).infolist() if "sheet1" in m.filename
        ]
        assert member.file_size <= estimate(100 + 20, 100 * len(cell.encode()))


@pytest.mark.parametrize("stream", ["xlsx", "csv"])
def test_rows_are_written_one_by_one(stream: str) -> None:
    """Writing 1,000,000 rows takes no more memory than a small table."""
    rows = some_rows(ROWS)
    tracemalloc.start()
    chunks = stream_workbook("s", HEAD, rows) if stream == "xlsx" else stream_csv(HEAD, rows)
    length = largest = 0
    for chunk in chunks:
        length += len(chunk)
        largest = max(largest, len(chunk))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert length > ROWS * 5
    assert (largest < 4_000_000, peak < 16_000_000) == (True, True), (largest, peak)


def test_formulas_are_hidden_in_csv() -> None:
    """Labels that look like formulas get an apostrophe."""
    assert [hide_formula(text) for text in ("=a", "+a", "-a", "@a", "a=b", "")] == [
        "'=a", "'+a", "'-a", "'@a", "a=b", "",
    ]  # fmt: skip
