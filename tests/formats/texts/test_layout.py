"""The description of a text file's format for the caller."""

from __future__ import annotations

from chalicelib.formats.texts.layout import TextLayout


def test_an_unnamed_column_is_described_by_its_position() -> None:
    """A header of fewer cells than the rows: columns without a name have their number."""
    described = TextLayout(header=("message",)).described()
    assert (described.text_column, described.label_column) == ("message", 2)
