"""Accepted examples stored in little memory."""

from __future__ import annotations

from chalicelib.domain.documents.picture import Box
from chalicelib.formats.archives.picture_examples import PictureItem, PictureItems


def test_items_come_back_as_they_were_added() -> None:
    """Examples can be read repeatedly, each with its label, file and box."""
    items = PictureItems()
    items.add_file("1.png", b"1" * 16)
    items.add("cat", Box(1, 2, 3, 4))
    items.add("dog", Box(0.1, 0.2, 0.3, 1e-7))
    items.add_file("2.png", b"2" * 16)
    items.add("cat", Box(5, 6, 7, 8))

    expected = [
        PictureItem("cat", "1.png", b"1" * 16, Box(1, 2, 3, 4)),
        PictureItem("dog", "1.png", b"1" * 16, Box(0.1, 0.2, 0.3, 1e-7)),
        PictureItem("cat", "2.png", b"2" * 16, Box(5, 6, 7, 8)),
    ]
    assert list(items) == list(items) == expected
    assert len(items) == 3


def test_items_without_boxes() -> None:
    """Images with labels have no box."""
    items = PictureItems()
    items.add_file("1.png", b"1" * 16)
    items.add("cat")

    assert list(items) == [PictureItem("cat", "1.png", b"1" * 16, None)]
    assert list(PictureItems()) == []
