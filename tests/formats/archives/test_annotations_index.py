"""The image that a row of annotations.csv refers to."""

from __future__ import annotations

import pytest

from chalicelib.formats.archives.picture_index import ImageIndex

PATHS = ["set/a.jpg", "set/b.JPG", "x/c.jpg", "y/c.jpg", "z/D.jpg", "Z/d.jpg", "set/e\u0301.jpg"]


@pytest.fixture
def index() -> ImageIndex:
    """The files of an archive whose annotations.csv is in `set/`."""
    index = ImageIndex()
    for number, path in enumerate(PATHS):
        index.add(number, path)
    return index


@pytest.mark.parametrize(
    ("cell", "path"),
    [
        ("set/a.jpg", "set/a.jpg"),
        ("a.jpg", "set/a.jpg"),
        (" ./a.jpg ", "set/a.jpg"),
        ("C:\\data\\a.jpg", "set/a.jpg"),
        ("/home/me/a.jpg", "set/a.jpg"),
        ("B.jpg", "set/b.JPG"),
        ("x/c.jpg", "x/c.jpg"),
        ("Y/C.jpg", "y/c.jpg"),
        ("D.jpg", "z/D.jpg"),
        ("d.jpg", "Z/d.jpg"),
        ("\xe9.jpg", "set/e\u0301.jpg"),
    ],
)
def test_found(index: ImageIndex, cell: str, path: str) -> None:
    """Images are found by path, next to the CSV, or by unique name, first with exact case."""
    assert index.find(cell, "set/") == PATHS.index(path)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("c.jpg", "several images"),
        ("z/d.JPG", "several images"),
        ("f.jpg", "no image of this name"),
        ("", "no image of this name"),
        ("set/", "no image of this name"),
    ],
)
def test_not_found(index: ImageIndex, cell: str, words: str) -> None:
    """A name that several images have, or none, is reported as such."""
    assert words in str(index.find(cell, "set/"))
