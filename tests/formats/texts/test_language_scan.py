"""The outcome of each row of a text upload, decided before anything is written."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from chalicelib.domain.common.limits import MAX_DATASET_BYTES, MAX_DATASET_EXAMPLES, MAX_REJECTIONS
from chalicelib.domain.datasets.example import text_digest
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.language_scan import ScanRules, kept_rows, scan
from tests.builders import a_csv

TEXTS = st.sampled_from(["one", "One", "two words", "three 你好", " ", "x" * 20_001])
LABELS = st.sampled_from(["a", "b", "A", "", "c" * 181, "c" * 182])


def _rules(known: Mapping[str, list[str]] | None = None, **more: int) -> ScanRules:
    """Rules of an English intent dataset."""
    digests = {k: frozenset(map(text_digest, texts)) for k, texts in (known or {}).items()}
    return ScanRules(language="en_US", is_sentiment=False, known=digests, **more)


@hypothesis_settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1, max_size=30))
def test_receipt_adds_up(rows: list[tuple[str, str]]) -> None:
    """For any file seen = kept + duplicates + rejected, and a second scan agrees."""
    rows = [*rows, ("always", "kept")]
    rules = _rules({"a": ["one"]})
    file = io.BytesIO(a_csv(rows))

    decision = scan(file, rules)
    kept = list(kept_rows(file, rules, decision))

    assert decision.seen == len(rows)
    assert decision.seen == decision.kept + decision.duplicates + decision.rejected
    assert decision.kept == len(kept) == sum(decision.kept_by_label.values())
    assert len({(row.text, row.label) for row in kept}) == len(kept)
    assert ("one", "a") not in {(row.text, row.label) for row in kept}
    assert decision.new_labels == [
        label for label in dict.fromkeys(row.label for row in kept) if label != "a"
    ]
    assert decision.bytes == sum(len(row.text.encode()) for row in kept)
    assert decision.words == sum(len(row.text.split()) for row in kept)


def test_a_numeric_label_with_enough_examples_is_no_total() -> None:
    """A numeric label with enough examples is not a total row."""
    asked = ["my total balance", "transaction count", "average spending", "total amount due"]
    rows = [(f"text {n} of {label}", str(label)) for label in range(10) for n in range(6)]
    rows += [(text, "10") for text in [*asked, "max withdrawal limit", "minimum deposit"]]

    decision = scan(io.BytesIO(a_csv(rows)), _rules())

    assert (decision.kept, decision.rejected) == (66, 0)


@pytest.mark.parametrize(
    "total", [("Grand Total", "30"), ("30", "Total"), ("Summe", "30 Tickets"), ("30 rows", "Total")]
)
def test_a_total_below_a_table_is_rejected(total: tuple[str, str]) -> None:
    """A total below a table, with the word in either column, is rejected."""
    rows = [(f"text {n}", "ab"[n % 2]) for n in range(30)]

    decision = scan(io.BytesIO(a_csv([*rows, total])), _rules())

    assert (decision.kept, decision.rejections[0].row) == (30, 31)


def test_a_label_that_ends_in_a_digit_is_no_total() -> None:
    """A rare label that ends in a digit, such as `tier1`, is not a total."""
    rows = [(f"text {n}", "ab"[n % 2]) for n in range(30)]

    assert scan(io.BytesIO(a_csv([*rows, ("count me in", "tier1")])), _rules()).kept == 31


def test_many_totals_are_read_as_examples() -> None:
    """Hundreds of rows that look like totals are read as examples."""
    rows = [(f"text {n}", "ab"[n % 2]) for n in range(30)]
    rows += [(f"total a{n}", str(n // 8)) for n in range(200)]

    assert scan(io.BytesIO(a_csv(rows)), _rules()).kept == 230


def test_texts_that_may_be_missing_values_are_kept_with_a_warning() -> None:
    """Texts such as `NULL` stay examples; a warning counts and lists them."""
    rows = [("text", "label"), ("good day", "a"), ("NULL", "a"), (" - ", "b"), ("#N/A", "b")]

    result = scan(io.BytesIO(a_csv(rows)), _rules())

    assert result.kept_by_label == {"a": 2, "b": 2}
    [warning] = [one for one in result.warnings if one.code == "missingText"]
    assert (warning.count, warning.places) == (3, ("NULL", "-", "#N/A"))


@pytest.mark.parametrize("start", ["", "["])
def test_the_object_in_which_a_file_ends_is_rejected(start: str) -> None:
    """The objects before the one that is cut become examples."""
    objects = [json.dumps({"text": f"text {at}", "label": "a"}) for at in range(4)]
    body = (start + (",\n" if start else "\n").join(objects))[:-9].encode()

    result = scan(io.BytesIO(body), _rules())

    assert (result.kept, [item.row for item in result.rejections]) == (3, [4])
    assert "the file ends inside this object" in result.rejections[0].reason


def test_known_texts_are_duplicates_of_their_label_only() -> None:
    """A known text is a duplicate only under its own label."""
    file = io.BytesIO(a_csv([("one", "a"), ("one", "b"), ("two", "a")]))

    decision = scan(file, _rules({"a": ["one"], "b": []}))

    assert (decision.kept, decision.duplicates, decision.new_labels) == (2, 1, [])


def test_file_of_duplicates_only() -> None:
    """A PUT that adds nothing new succeeds."""
    decision = scan(io.BytesIO(a_csv([("one", "a")])), _rules({"a": ["one"]}))

    assert (decision.kept, decision.duplicates) == (0, 1)


def test_rejections_are_counted_beyond_the_named_ones() -> None:
    """All rejections are counted; the first hundred are listed with row and reason."""
    decision = scan(io.BytesIO(a_csv([("x", "a"), *[("y",)] * 250])), _rules())

    assert (decision.rejected, len(decision.rejections)) == (250, MAX_REJECTIONS)
    assert decision.rejections[0].row == 2
    assert "one cell" in decision.rejections[0].reason


def test_words_of_a_language_without_spaces() -> None:
    """In Chinese each character is a word."""
    rules = ScanRules(language="zh_CN", is_sentiment=False)

    assert scan(io.BytesIO(a_csv([("你好 世界", "a")])), rules).words == 4


@pytest.mark.parametrize(
    ("rows", "rules", "words"),
    [
        ([("x",), ("y",)], _rules(), "None of the 2 rows can be used. Row 1: "),
        (
            [("x", "a"), ("y", "a")],
            _rules(examples=MAX_DATASET_EXAMPLES - 1),
            "would have 1,000,001 examples; at most 1,000,000",
        ),
        (
            [("xyz", "a")],
            _rules(bytes=MAX_DATASET_BYTES - 2),
            r"would have 2,147,483,649 bytes; at most 2,147,483,648 \(2 GB\)",
        ),
        (
            [(str(number), f"label {number}") for number in range(1_000)],
            _rules({"known": []}),
            "would have 1,001 labels; at most 1,000",
        ),
    ],
)
def test_limits_of_a_dataset(rows: list[tuple[str, str]], rules: ScanRules, words: str) -> None:
    """A file over a limit is refused with limit, value and remedy."""
    with pytest.raises(InvalidUpload, match=words):
        scan(io.BytesIO(a_csv(rows)), rules)


def test_exactly_at_the_limits() -> None:
    """A file exactly at the limits is accepted."""
    rules = _rules(examples=MAX_DATASET_EXAMPLES - 1, bytes=MAX_DATASET_BYTES - 3)

    assert scan(io.BytesIO(a_csv([("xyz", "a")])), rules).kept == 1
    rows = [(str(number), f"label {number}") for number in range(1_000)]
    assert len(scan(io.BytesIO(a_csv(rows)), _rules()).new_labels) == 1_000


def test_blank_rows_are_no_place_to_hide_in() -> None:
    """A scan can be stopped within any number of blank rows."""
    checks: list[int] = []
    content = b"a text,label\n" + b"\n" * 20_000 + b"another,label\n"
    result = scan(io.BytesIO(content), _rules(), check=lambda: checks.append(1))

    assert result.kept == 2
    assert len(checks) >= 20
