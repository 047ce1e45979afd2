"""The rules of one row."""

from __future__ import annotations

import pytest

from chalicelib.formats.texts.language_file import LabelMerges, RejectedRow, TextRow, make_row


def _make(text: str, label: str, *, sentiment: bool = False) -> TextRow | RejectedRow:
    """Make row 7."""
    return make_row(7, text, label, sentiment=sentiment)


def test_make_row_when_all_is_well() -> None:
    """Texts are unchanged, labels are trimmed."""
    assert TextRow(7, "  two\nlines\t", "my label", "my label") == _make(
        "  two\nlines\t", " my label "
    )
    assert TextRow(7, "x" * 20_000, "a", "a") == _make("x" * 20_000 + "\r", "a")


@pytest.mark.parametrize(
    ("text", "label", "words"),
    [
        ("", "a", "text is missing"),
        (" \u3000\n", "a", "text is missing"),
        ("a", " \t", "label is missing"),
        ("x" * 20_001, "a", "20,001 characters, the limit is 20,000"),
        ("x\n" * 20_000, "a", "is its quote closed"),
        ("a\x00b", "a", "NUL"),
        ("half \ud83d", "a", "surrogate"),
        ("a", "b\nc", "U+000A"),
        ("a", "b\x85c", "U+0085"),
        ("a", "b\x00", "U+0000"),
        ("a", "b\udc00", "surrogate"),
    ],
)
def test_make_row_when_a_rule_is_broken(text: str, label: str, words: str) -> None:
    """Each violated rule rejects the row with limit, value and remedy."""
    rejection = _make(text, label)

    assert isinstance(rejection, RejectedRow)
    assert rejection.row == 7
    assert words in rejection.reason


def test_make_row_when_sentiments_differ_in_case() -> None:
    """Sentiments are stored in lower case; any other label rejects the row."""
    assert TextRow(7, "a", "positive", "positive") == _make("a", " PoSitive ", sentiment=True)
    rejection = _make("a", "great" * 30, sentiment=True)
    assert isinstance(rejection, RejectedRow)
    assert "positive, negative or neutral" in rejection.reason
    assert len(rejection.reason) < 160


def test_make_row_when_a_label_is_long() -> None:
    """A label over 180 characters is cut and stays trimmed."""
    row = _make("a", "x" * 179 + " and more")

    assert isinstance(row, TextRow)
    assert row.label == "x" * 179
    assert row.full_label == "x" * 179 + " and more"
    whole = _make("a", "x" * 180)
    assert isinstance(whole, TextRow)
    assert whole.label == whole.full_label


def test_label_merges_when_cutting_makes_two_labels_one() -> None:
    """Rows of labels that become equal by truncation are rejected; other rows are not."""
    rows = [
        TextRow(n, "t", label[:180], label)
        for n, label in enumerate(["y" * 180, "y" * 181, "z" * 200, "z" * 200, "plain"])
    ]
    merges = LabelMerges()
    for row in rows:
        merges.add(row)

    rejected = [merges.find_rejection(row) for row in rows]

    assert [r.row for r in rejected if r] == [0, 1]
    assert rejected[1] is not None
    assert "181 characters" in rejected[1].reason
