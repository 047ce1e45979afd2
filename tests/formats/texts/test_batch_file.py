"""Lines of batches: which there are, their limit, and memory."""

from __future__ import annotations

import io
import tracemalloc
from itertools import islice

import pytest

from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.domain.jobs.batch import MAX_BATCH_LINES
from chalicelib.domain.jobs.batch_table import InputTable
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts import batch_file
from chalicelib.formats.texts.batch_file import read_lines
from tests.workbooks import sheet, workbook


def test_a_line_too_many_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch with too many lines is refused with limit and remedy."""
    assert MAX_BATCH_LINES == 1_000_000
    monkeypatch.setattr(batch_file, "MAX_BATCH_LINES", 3)
    lines = read_lines(io.BytesIO(b"text\na\nb\nc\nd\n"))

    with pytest.raises(InvalidUpload, match=r"more than 3 lines, the most of a batch. Split it"):
        list(lines)


def test_lines_are_read_one_by_one() -> None:
    """A large file takes no more memory than a small one."""
    rows = b"".join(b'%d,"where is parcel %d, please"\n' % (n, n) for n in range(20_000))
    file = io.BytesIO(b"id,text\n" + rows)
    tracemalloc.start()
    lines = read_lines(file)
    count = 0
    while part := list(islice(lines, 1_000)):
        count += len(part)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (count, peak < 1_200_000) == (20_000, True), peak


def test_rows_and_ids_are_those_of_the_file() -> None:
    """Row numbers count header and blank rows; ids that cannot be returned are dropped."""
    content = "TEXT\tid\none\t7\n\t\ntwo\t{}\nthree\t\n".format("x" * 1_001).encode()
    found = [(line.row, line.line_id, line.text) for line in read_lines(io.BytesIO(content))]

    assert found == [(2, "7", "one"), (4, None, "two"), (5, None, "three")]


def test_sheets_are_read() -> None:
    """The first sheet of a workbook, with the numbers of its rows."""
    content = workbook({"s": sheet([["nr", "Subject"], [1, "one"], [2, "two"]])})
    found = [
        (line.row, line.text)
        for line in read_lines(io.BytesIO(content), ReadingOptions(text_column="subject"))
    ]

    assert found == [(2, "one"), (3, "two")]


def test_a_value_of_a_megabyte_in_json_is_refused_with_its_place() -> None:
    """A line that would exhaust memory is rejected."""
    content = b'{"text": "a"}\n{"text": "' + b"x" * 2_100_000 + b'"}'
    with pytest.raises(InvalidUpload, match=r"line 2.*longer than 1,000,000 characters"):
        list(read_lines(io.BytesIO(content)))


def test_a_list_of_texts_is_never_cut_at_commas() -> None:
    """A list without header is read whole, or refused if texts would be split at commas."""
    listed = b"where is my parcel\nI want money back\nit is late\n"
    assert [line.text for line in read_lines(io.BytesIO(listed))] == listed.decode().splitlines()
    with pytest.raises(InvalidUpload, match="row 4 has 2"):
        list(read_lines(io.BytesIO(listed + b"hello there, you\n")))


def test_a_requested_position_is_not_the_number_in_the_first_row() -> None:
    """A number in the first row that also occurs below is no column name, so no text is lost."""
    content = "".join(f"{2 + at % 3},where is parcel {at}\n" for at in range(6)).encode()
    options = ReadingOptions(text_column="2")

    lines = list(read_lines(io.BytesIO(content), options, table=InputTable(), keeps_cells=True))

    assert [line.text for line in lines] == [f"where is parcel {at}" for at in range(6)]
