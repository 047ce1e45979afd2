"""Labels of images, and labels that become equal by truncation."""

from __future__ import annotations

from chalicelib.formats.archives.picture_examples import LabelBook, cut_label, find_label_fault


def test_faults() -> None:
    """Empty labels, control characters and lone surrogates are invalid labels."""
    assert "empty" in find_label_fault("")
    assert "U+0007" in find_label_fault("a\x07")
    assert "U+D83D" in find_label_fault("\ud83d")
    assert find_label_fault("Katze 😀") == ""


def test_cutting() -> None:
    """Labels are truncated to 180 characters and do not end in a space."""
    assert cut_label("x" * 180) == "x" * 180
    assert cut_label("x" * 181) == "x" * 180
    assert cut_label("x" * 179 + " y") == "x" * 179


def test_merged_labels() -> None:
    """Two labels that are equal when truncated are both refused; one long label is not."""
    book = LabelBook()
    for label in ("a" * 181, "a" * 182, "b" * 181, "b" * 181, "c" * 180, "c" * 181, "A", "a"):
        book.add(label)

    assert "first 180 characters" in book.find_fault("a" * 180)
    assert book.find_fault("b" * 180) == ""
    assert book.find_fault("c" * 180)
    assert book.find_fault("A") == book.find_fault("a") == ""
    assert len(book) == 5
