"""Reading annotations.csv."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.errors import InvalidUpload, ServiceError
from chalicelib.formats.archives.annotations import Annotations, BoxSource
from chalicelib.formats.archives.annotations_csv import read_annotations
from chalicelib.formats.archives.picture_index import ImageIndex
from tests.pictures import a_box, annotations

PATHS = ["a.jpg", "b.jpg", "café.jpg"]
CAT, DOG = a_box("cat", 1, 2, 3, 4), a_box("dog", 5.5, 6, 7, 8)


def _read(content: bytes) -> tuple[Annotations, list[RejectedItem]]:
    """Read a file against three pictures."""
    index = ImageIndex()
    for number, path in enumerate(PATHS):
        index.add(number, path)
    rejected: list[RejectedItem] = []
    source = BoxSource(index, "", rejected.append, lambda: None)
    return read_annotations(io.BytesIO(content), source), rejected


def _labels(found: Annotations, picture: int = 0) -> list[str]:
    """Labels of a picture's boxes."""
    return [row.label for row in found.boxes_of(picture)]


def test_boxes_of_pictures() -> None:
    """Boxes are listed by picture with row and column; rows of one picture join."""
    found, rejected = _read(
        annotations([("a.jpg", [CAT, DOG]), ("b.jpg", [DOG]), ("a.jpg", [CAT, CAT])])
    )

    rows = list(found.boxes_of(0))
    assert [(row.row, row.column, row.label) for row in rows] == [
        (2, "box0", "cat"),
        (2, "box1", "dog"),
        (4, "box0", "cat"),
        (4, "box1", "cat"),
    ]
    assert rows[1].box.x == 5.5
    assert _labels(found, 1) == ["dog"]
    assert list(found.boxes_of(2)) == []
    assert (len(found), rejected) == (5, [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_encodings(encoding: str, line_end: str) -> None:
    """UTF-8 with and without mark, UTF-16 and Latin-1 are read, with either line end."""
    text = annotations([("café.jpg", [a_box("naïve", 1, 2, 3, 4)])]).decode()
    text = text.replace("na\\u00efve", "naïve").replace("\r\n", line_end)

    found, rejected = _read(text.encode(encoding))

    assert (_labels(found, 2), rejected) == (["naïve"], [])


@pytest.mark.parametrize(
    "header", ["image_file,box0,box1", '"image","box1",""', "x", "Image File,label (json),,,", ""]
)
def test_any_header(header: str) -> None:
    """The header's names, number of columns and quotes are ignored, and it may be missing."""
    rows = annotations([("a.jpg", [CAT, DOG])]).split(b"\r\n", 1)[1]

    found, rejected = _read((header + "\r\n").encode() + rows if header else rows)

    assert (_labels(found), rejected) == (["cat", "dog"], [])


def test_thousand_columns() -> None:
    """A row of 1,000 boxes is read, also with long labels."""
    boxes = [a_box("é" * 200 + "x", number / 3, 2, 3, 4) for number in range(1_000)]

    found, rejected = _read(annotations([("a.jpg", boxes), ("b.jpg", [CAT])]))

    assert (len(found), rejected) == (1_001, [])
    assert list(found.boxes_of(0))[-1].column == "box999"


def test_rejected_boxes_name_row_box_and_file() -> None:
    """An invalid cell rejects one box, named by row, column and image; the others stay."""
    found, rejected = _read(annotations([("a.jpg", [CAT, "{oops", a_box("x", 1, 1, 0, 1)])]))

    assert [(item.row, item.file) for item in rejected] == [(2, "a.jpg"), (2, "a.jpg")]
    assert rejected[0].reason.startswith("Row 2, box1 of a.jpg: the cell is not JSON. Write {")
    assert "Row 2, box2 of a.jpg: the box is 0 × 1 pixels" in rejected[1].reason
    assert _labels(found) == ["cat"]
    assert (found.has_rejected_box(0), found.has_rejected_box(1)) == (True, False)


def test_missing_pictures() -> None:
    """Each box of a missing image is rejected; a row without boxes counts as one rejection."""
    _, rejected = _read(annotations([("gone.jpg", [CAT, DOG]), ("lost.jpg", []), ("", [CAT])]))

    assert [item.reason.partition(":")[0] for item in rejected] == [
        "Row 2, box0 of gone.jpg",
        "Row 2, box1 of gone.jpg",
        "Row 3, box0 of lost.jpg",
        "Row 4, box0 of no image",
    ]
    assert "no image of this name" in rejected[0].reason
    assert "first cell" in rejected[3].reason


def test_blank_rows_and_trailing_cells() -> None:
    """Blank rows and empty cells are ignored."""
    cell = json.dumps(CAT).replace('"', '""')
    found, rejected = _read(f'image,box0\n\n,,,\n"a.jpg",,"{cell}",,,\n \n'.encode())

    assert [(row.row, row.column) for row in found.boxes_of(0)] == [(4, "box1")]
    assert rejected == []


def test_quote_that_is_never_closed() -> None:
    """An unclosed quote rejects its row; the following rows are read."""
    good = annotations([("b.jpg", [DOG])]).split(b"\r\n", 1)[1]

    found, rejected = _read(b'image,box0\na.jpg,"{""label\n' + good)

    assert [item.row for item in rejected] == [2]
    assert _labels(found, 1) == ["dog"]


def test_labels_that_cutting_would_merge() -> None:
    """Boxes of labels that are equal in their first 180 characters are rejected."""
    found, _ = _read(
        annotations([("a.jpg", [a_box("x" * 181, 1, 2, 3, 4), a_box("x" * 182, 1, 2, 3, 4), CAT])])
    )

    faults = [bool(row.label_fault) for row in found.boxes_of(0)]
    assert faults == [True, True, False]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "annotations.csv cannot be read: it looks like an empty file"),
        (b"\x89PNG\r\n\x1a\n", "looks like a PNG image. Save it as csv"),
        (b"\xff\xfea", "broken UTF-16"),
    ],
)
def test_file_that_is_not_csv(content: bytes, words: str) -> None:
    """A file that is not CSV is refused as a whole, with its name."""
    with pytest.raises(InvalidUpload, match=words):
        _read(content)


def test_too_many_labels() -> None:
    """Reading stops early at far more labels than a dataset may have."""
    boxes = [a_box(f"label {number}", 1, 2, 3, 4) for number in range(10_001)]
    rows = [("a.jpg", boxes[at : at + 1_000]) for at in range(0, 10_001, 1_000)]

    with pytest.raises(InvalidUpload, match="more than 10,000 labels; at most 1,000"):
        _read(annotations(rows))


@hypothesis_settings(max_examples=200, deadline=2_000)
@given(
    text=st.lists(
        st.sampled_from(['"', ",", "\n", "a.jpg", "{", "}", '""', "label", ":", "1", "é", "\x00"])
    ),
    at=st.integers(0, 200),
)
def test_mutated_file(text: list[str], at: int) -> None:
    """Any mutated file gives boxes, rejections with reasons, or a refusal."""
    content = annotations([("a.jpg", [CAT, DOG]), ("b.jpg", [DOG])])
    try:
        found, rejected = _read(content[:at] + "".join(text).encode() + content[at:])
    except ServiceError:
        return
    assert all(item.reason for item in rejected)
    assert sum(len(list(found.boxes_of(number))) for number in range(3)) == len(found)
