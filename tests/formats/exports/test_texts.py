"""Exported texts, read back by the upload reader."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.domain.datasets.label_names import is_visible, normal_form
from chalicelib.formats.exports.texts import write_csv, write_jsonl
from chalicelib.formats.texts.language_file import TextRow, read_rows

TEXTS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\r\n"),
    min_size=1,
    max_size=60,
).filter(lambda text: text.strip() != "")
LABELS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12).filter(
    lambda label: normal_form(label) == label and is_visible(label)
)
TRICKY = [
    ("text", "label"),
    ('say "hi", please', "a,b"),
    ("two\r\nlines", "x"),
    ("one\rline", "x"),
    ("an end\r", "x"),
    ("an end\r\n", "x"),
    ("=1+1", "@sum"),
    ("\ttab", "tab"),
    ("{", "brace"),
    ("a\N{LINE SEPARATOR}b", "line"),
    ("\N{ZERO WIDTH NO-BREAK SPACE}mark", "bom"),
]


def _again(content: bytes) -> list[tuple[str, str]]:
    """Read a file as an upload does."""
    rows = list(read_rows(io.BytesIO(content)))
    assert all(isinstance(row, TextRow) for row in rows), rows
    return [(row.text, row.label) for row in rows if isinstance(row, TextRow)]


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
@settings(deadline=None)
@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=8))
def test_any_texts_are_read_again(write, rows):
    """Any texts and labels are read back unchanged from an export."""
    file = io.BytesIO()
    assert write(file, rows, [label for _, label in rows]) == len(rows)

    assert _again(file.getvalue()) == rows


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
@pytest.mark.parametrize("row", TRICKY)
def test_tricky_texts_are_read_again(write, row):
    """Texts with header names, quotes, line breaks, formulas and braces are read back."""
    file = io.BytesIO()
    write(file, [row], [row[1]])

    assert _again(file.getvalue()) == [row]
