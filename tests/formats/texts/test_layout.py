"""How a text file is read, as told to whoever asks."""

from __future__ import annotations

from chalicelib.formats.texts.layout import TextLayout


def test_a_column_that_the_header_does_not_name_is_told_by_its_place() -> None:
    """A header of fewer cells than the rows: columns without a name have their number."""
    described = TextLayout(header=("message",)).described()
    assert (described.text_column, described.label_column) == ("message", 2)
