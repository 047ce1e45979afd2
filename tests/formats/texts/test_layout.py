"""The description of a text file's layout."""

from __future__ import annotations

from chalicelib.formats.texts.layout import TextLayout


def test_an_unnamed_column_is_described_by_its_position() -> None:
    """A column without a name is described by its position."""
    described = TextLayout(header=("message",)).described()
    assert (described.text_column, described.label_column) == ("message", 2)
