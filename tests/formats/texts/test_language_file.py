"""Text uploads as rows and rejections. Spec: Upload formats."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from chalicelib.domain.datasets.label_names import is_missing_mark, is_visible, normal_form
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts import language_file
from chalicelib.formats.texts.language_file import RejectedRow, TextRow, read_rows
from tests.full_size import size

_WEATHER = Path(__file__).parents[2] / "data" / "weather.csv"


def _read(data: bytes | str, *, sentiment: bool = False) -> list[TextRow | RejectedRow]:
    """Read an upload given as bytes or as UTF-8 text."""
    raw = data.encode() if isinstance(data, str) else data
    return list(read_rows(io.BytesIO(raw), sentiment=sentiment))


def _pairs(data: bytes | str) -> list[tuple[str, str]]:
    """Read texts and labels; no row may be rejected."""
    rows = _read(data)
    assert not [row for row in rows if isinstance(row, RejectedRow)]
    return [(row.text, row.label) for row in rows if isinstance(row, TextRow)]


_PARCEL = ("where is my parcel", "delivery-date")
_REFUND = ("i want my money back, please", "refund")


@pytest.mark.parametrize(
    "data",
    [
        '"where is my parcel",delivery-date\n"i want my money back, please",refund\n',
        "where is my parcel\tdelivery-date\ni want my money back, please\trefund",
        '[{"text": "where is my parcel", "label": "delivery-date"},'
        ' {"document": "i want my money back, please", "intent": "refund"}]',
        '{"utterance": "where is my parcel", "sentiment": "delivery-date"}\n'
        '{"text": "i want my money back, please", "label": "refund"}',
        'text,label\nwhere is my parcel,delivery-date\r"i want my money back, please",refund\r\n',
        "intent\tutterance\ndelivery-date\twhere is my parcel\nrefund\t"
        "i want my money back, please\n",
        '\n\nwhere is my parcel,delivery-date,,\n \n"i want my money back, please", refund ,\n\n',
    ],
)
def test_read_rows_when_formats_differ(data: str) -> None:
    """Every documented format gives the same rows, whatever the file name."""
    assert _pairs(data) == [_PARCEL, _REFUND]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_read_rows_when_encodings_differ(encoding: str, end: str) -> None:
    """Encoding and line ends are found in the bytes."""
    data = f'text,label{end}grüße aus Köln,gruß{end}"zwei{end}Zeilen",x{end}'.encode(encoding)

    assert [("grüße aus Köln", "gruß"), (f"zwei{end}Zeilen", "x")] == _pairs(data)


def test_read_rows_when_utf16_has_either_byte_order() -> None:
    """UTF-16 with a byte order mark is read in both orders, JSON too."""
    assert _pairs(b"\xff\xfe" + "漢\tx\r\n".encode("utf-16-le")) == [("漢", "x")]
    assert _pairs(
        b"\xfe\xff" + '[{"text":"漢","label":"x"}]'.encode("utf-16-be"),
    ) == [("漢", "x")]


def test_read_rows_when_the_oracle_is_read() -> None:
    """weather.csv gives 73 examples after its duplicate is dropped, labels 23, 21 and 29."""
    rows = _pairs(_WEATHER.read_bytes())

    assert len(rows) == 74
    assert list(Counter(label for _, label in dict.fromkeys(rows)).values()) == [29, 21, 23]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("only one cell", "one cell; separate text and label by a comma"),
        ("one, two, three", "3 cells"),
        ("text,,label", "3 cells"),
        (",label", "text is missing"),
        ("text,", "label is missing"),
        (",", "text is missing"),
        ("a\x00b,label", "NUL"),
        ("text,la\tbel", "U+0009"),
        ('"x" y,label', "quote"),
    ],
)
def test_read_rows_when_a_row_is_wrong(bad: str, words: str) -> None:
    """An invalid row is rejected with number and reason; the others are accepted."""
    rows = _read(f"good text,a\n{bad}\ngood text,b\n")

    assert [TextRow(1, "good text", "a", "a"), TextRow(3, "good text", "b", "b")] == [
        rows[0],
        rows[2],
    ]
    rejection = rows[1]
    assert isinstance(rejection, RejectedRow)
    assert rejection.row == 2
    assert words in rejection.reason


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('"text"', "a text is in the place of an object"),
        ("[]", "an array is in the place"),
        ('{"label": "x"}', "no member text or document or utterance"),
        ('{"text": "x", "name": "y"}', "no member label or intent or sentiment"),
        ('{"text": null, "label": "x"}', '"text" is null'),
        ('{"text": "x", "label": true}', '"label" is true'),
        ('{"text": ["x"], "label": "x"}', '"text" is an array'),
        ('{"text": "x", "label": {"a": 1}}', '"label" is an object'),
        ('{"text": "x", "label": NaN}', '"label" is a number'),
        ('{"text": "\\ud83d", "label": "x"}', "surrogate"),
    ],
)
def test_read_rows_when_an_object_is_wrong(value: str, words: str) -> None:
    """An invalid object is rejected with its place; the others are accepted."""
    rows = _read(f'[{{"text": "a", "label": 7}}, {value}]')

    assert TextRow(1, "a", "7", "7") == rows[0]
    rejection = rows[1]
    assert isinstance(rejection, RejectedRow)
    assert rejection.row == 2
    assert words in rejection.reason


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf", "no rows"),
        (b" \n\r\n", "no rows"),
        (b"text,label\r\n", "no rows"),
        (b"[]", "no rows"),
        (b"\x89PNG\r\n\x1a\n0000", "PNG"),
        (b'[{"text": "a"', "line 1"),
        (b'["a", "b"]', "wrong shape: a text first"),
        (b"[null]", "wrong shape: null first"),
        (b'{"data": [], "\xed\xa0\x80": 1}', "wrong shape: an object of data, ?"),
        (b"{}", "wrong shape: an object of no members"),
    ],
)
def test_read_rows_when_the_file_is_wrong(data: bytes, words: str) -> None:
    """An unreadable file fails with cause and remedy."""
    with pytest.raises(InvalidUpload) as caught:
        _read(data)

    assert words in caught.value.message
    assert "Send" in caught.value.message
    caught.value.message.encode()


def test_read_rows_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading stops at more rows than a dataset may have, with the limit."""
    monkeypatch.setattr(language_file, "MAX_DATASET_EXAMPLES", 3)

    assert len(_read("a,b\n" * 3)) == 3
    with pytest.raises(InvalidUpload, match="more than 3 rows"):
        _read("a,b\n" * 4)


def test_read_rows_when_labels_are_sentiments() -> None:
    """Sentiments are lower-cased; other labels reject their rows."""
    rows = _read("good,Positive\nbad,NEGATIVE\nso so,meh\n", sentiment=True)

    assert [row.label for row in rows if isinstance(row, TextRow)] == ["positive", "negative"]
    assert isinstance(rows[2], RejectedRow)


def test_read_rows_when_read_twice_from_a_spooled_file() -> None:
    """A spooled upload is left open and can be read again."""
    with tempfile.SpooledTemporaryFile(max_size=64) as file:
        file.write(b"some text,label\n" * 10)
        first = list(read_rows(file))
        second = list(read_rows(file))

    assert first == second
    assert len(first) == 10


def test_read_rows_when_the_file_is_at_its_limit() -> None:
    """25 MB of 100,000 quoted rows are read within two seconds; a quarter within one."""
    rows = size(25_000, 100_000)
    data = ('"' + "some words, and more of them " * 8 + '",label\n').encode() * rows
    started = time.process_time()

    count = sum(1 for _ in read_rows(io.BytesIO(data)))

    assert count == rows
    assert time.process_time() - started < size(1, 2)


_ALPHABET = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from(
    "\t\n\r\"',"
)
_CELL_TEXTS = st.text(_ALPHABET, min_size=1, max_size=40).filter(
    lambda text: bool(text.strip()) and not text.endswith("\r")
)
_LABELS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=20
).filter(lambda label: label == normal_form(label) and is_visible(label))
# A mark at the end of all labels belongs to an exporting tool, not to the labels.
_ROWS = st.lists(st.tuples(_CELL_TEXTS, _LABELS), min_size=1, max_size=12).filter(
    lambda rows: not all(is_missing_mark(row[1]) or row[1][-1] in ";,|" for row in rows)
)


@settings(max_examples=size(100, 300), deadline=None)
@given(
    rows=_ROWS,
    separator=st.sampled_from([",", "\t"]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    swapped=st.booleans(),
)
@example([("a\tb,c", "d, e")], ",", "\r", "utf-16", True)
def test_read_rows_when_the_csv_module_wrote_them(
    rows: list[tuple[str, str]], separator: str, end: str, encoding: str, swapped: bool
) -> None:
    """With a header, whatever the csv module writes is read back exactly."""
    buffer = io.StringIO(newline="")
    # Python 3.11 quotes only the line ends that it writes itself.
    has_line_ends = any(re.search(r"[\r\n]", text) for text, _ in rows)
    quoting = csv.QUOTE_ALL if has_line_ends else csv.QUOTE_MINIMAL
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=quoting)
    names = ("text", "label")
    writer.writerows(pair[::-1] if swapped else pair for pair in [names, *rows])

    assert rows == _pairs(buffer.getvalue().encode(encoding))


@settings(max_examples=size(70, 200), deadline=None)
@given(rows=_ROWS, quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_read_rows_when_there_is_no_header(rows: list[tuple[str, str]], quoting: int) -> None:
    """Without a header, texts that hold no tab are read back exactly."""
    clean = [(re.sub(r"[\t\r\n]", " ", text), re.sub(r"\t", " ", label)) for text, label in rows]
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=quoting).writerows([("the first of all", "first"), *clean])

    assert [("the first of all", "first"), *clean] == _pairs(buffer.getvalue())


@settings(max_examples=size(70, 200), deadline=None)
@given(rows=_ROWS, lines=st.booleans(), ascii_only=st.booleans())
def test_read_rows_when_json_holds_them(
    rows: list[tuple[str, str]], lines: bool, ascii_only: bool
) -> None:
    """Arrays and lines of objects are read back exactly."""
    objects = [{"text": text, "label": label} for text, label in rows]
    if lines:
        data = "\n".join(json.dumps(item, ensure_ascii=ascii_only) for item in objects)
    else:
        data = json.dumps(objects, ensure_ascii=ascii_only, indent=1)

    assert rows == _pairs(data)


@settings(max_examples=size(100, 300), deadline=None)
@given(data=st.binary(max_size=200) | st.text('ab,\t"\n\r[]{}:', max_size=80).map(str.encode))
def test_read_rows_when_the_bytes_are_arbitrary(data: bytes) -> None:
    """Arbitrary bytes give rows, rejections or the documented error."""
    try:
        rows = _read(data)
    except InvalidUpload:
        return
    assert rows
