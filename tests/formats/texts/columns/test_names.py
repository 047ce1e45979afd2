"""Finding text and label columns by the names in a header."""

from __future__ import annotations

import pytest

from chalicelib.formats.texts.columns.names import find_documented_columns, find_named_columns


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        (["text", "label"], (0, 1)),
        (["intent", "utterance"], (1, 0)),
        ([" document", "sentiment ", ""], (0, 1)),
        (["Text", "Label"], None),
        (["text", "text"], None),
        (["label", "intent"], None),
        (["id", "text", "label"], None),
        (["text"], None),
    ],
)
def test_find_documented_columns_when_names_differ(
    cells: list[str], columns: tuple[int, int] | None
) -> None:
    """A header needs a text name and a label name, in either order."""
    assert columns == find_documented_columns(cells)


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (["Subject", "Category"], (0, 1)),
        (["id", "Customer message", "Ticket category", "created at"], (1, 2)),
        (["message_id", "message", "label_confidence", "label"], (1, 3)),
        (["Betreff", "Kategorie"], (0, 1)),
        (["テキスト", "ラベル"], (0, 1)),
        (["text", "subject", "label", "category"], (0, 2)),
        (["subject", "message", "category"], None),
        (["hello there", "greeting"], None),
    ],
)
def test_find_named_columns_when_names_are_other_words(
    names: list[str], columns: tuple[int, int] | None
) -> None:
    """Names of other tools and languages are known; the documented ones win."""
    assert columns == find_named_columns(names).columns
