"""Rows with more cells than a two-column header: unquoted delimiters in texts."""

from __future__ import annotations

import io

import pytest

from chalicelib.domain.datasets.upload_format import ReadingOptions
from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.language_scan import ScanRules, kept_rows, scan

LABELS = ("billing", "shipping", "refund")


def read(names, make, count=60, **options):
    """Return the accepted rows as pairs, and the codes of layout warnings."""
    lines = [names, *(make(number, LABELS[number % 3]) for number in range(count))]
    file = io.BytesIO("\n".join(lines).encode())
    rules = ScanRules("en", is_sentiment=False, options=ReadingOptions(**options))
    decision = scan(file, rules)
    rows = [(row.text, row.label) for row in kept_rows(file, rules, decision)]
    return rows, [warning.code for warning in decision.layout.warnings]


@pytest.mark.parametrize(
    "header",
    ["text,label", "message,category", "Kommentar,Kategorie", "Text,Label", "utterance,intent"],
)
@pytest.mark.parametrize("commas", [1, 3])
def test_texts_with_commas_are_joined_up_to_the_last_cell(header, commas):
    """With the label last, all other cells become the text, with a warning."""
    text = ", ".join(["my parcel"] * commas)
    rows, codes = read(header, lambda n, label: f"no {n}, {text},{label}")

    assert rows[:2] == [(f"no 0, {text}", "billing"), (f"no 1, {text}", "shipping")]
    assert (len(rows), "cellsJoined" in codes) == (60, True)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_delimiter_is_joined_in_either_order(delimiter):
    """With the label first, all other cells become the text, with the original delimiter."""
    last, _ = read(
        f"text{delimiter}label",
        lambda n, label: delimiter.join([f"hello {n}", " it is late", label]),
    )
    first, codes = read(
        f"label{delimiter}text",
        lambda n, label: delimiter.join([label, f"hello {n}", " it is late"]),
    )

    assert first == last
    assert (last[0], "cellsJoined" in codes) == (
        (f"hello 0{delimiter} it is late", "billing"),
        True,
    )


def test_commas_without_spaces_are_joined_by_the_labels_that_repeat():
    """Last cells that repeat a few values are labels, even with commas in the texts."""
    rows, _ = read("text,label", lambda n, label: f"it costs {n},50 euros,{label}")
    asked, _ = read(
        "one,two",
        lambda n, label: f"it costs {n},50 euros,{label}",
        text_column="one",
        label_column="two",
    )

    assert rows[1] == asked[1] == ("it costs 1,50 euros", "shipping")


@pytest.mark.parametrize(
    "make",
    [
        lambda n, label: f"it costs {n},{(50, 99, 20)[n // 3 % 3]} euros,{label}",
        lambda n, label: f"it costs {n},{(50, 99, 20)[n // 3 % 3]},{label}",
        lambda n, label: f"order {n}{(',help', ',thanks', '')[n // 3 % 3]},{label}",
        lambda n, label: f"order {n},{('help', 'thanks')[n % 2]}{',now' * (n % 4 > 2)},{label}",
        lambda n, label: f"where is order {n},{('please?', 'thanks!')[n % 2]},{label}",
    ],
)
@pytest.mark.parametrize(("header", "options"), [("text,label", {}), ("one,two", {"header": True})])
def test_second_cells_that_repeat_are_joined_where_labels_move_or_numbers_are_cut(
    header, options, make
):
    """Repeating second cells, as with decimal commas, do not hide labels in the last cell."""
    rows, codes = read(header, make, **options)

    assert (len(rows), {label for _, label in rows}) == (60, set(LABELS))
    assert rows[5][0] == make(5, "label").removesuffix(",label")
    assert "cellsJoined" in codes


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_documented_header_decides_the_delimiter_of_uneven_rows(delimiter):
    """If unquoted texts make rows uneven, the documented header decides the delimiter."""
    rows, codes = read(
        f"text{delimiter}label",
        lambda n, label: delimiter.join([f"order {n}", *("help", "now")[: n // 3 % 3], label]),
    )

    assert (rows[3], len(rows)) == ((f"order 3{delimiter}help", "billing"), 60)
    assert "cellsJoined" in codes


@pytest.mark.parametrize("header", [True, 1])
def test_header_of_unknown_names_is_obeyed_above_unquoted_commas(header):
    """Two columns with unknown names are text and label, in this order."""
    rows, codes = read("one,two", lambda n, label: f"no {n}, friend {n},{label}", header=header)

    assert (rows[0], len(rows), codes) == (("no 0, friend 0", "billing"), 60, ["cellsJoined"])


def test_missing_label_behind_joined_cells_is_rejected():
    """If the last cell is empty the row is rejected, and no part of a text becomes a label."""
    rows, _ = read("text,label", lambda n, label: f"no {n}, it is late,{label if n % 5 else ''}")

    assert (len(rows), {label for _, label in rows}) == (48, set(LABELS))


@pytest.mark.parametrize(
    ("header", "make"),
    [
        ("text,label", lambda n, label: f"hello {n},{label},{'ab'[n % 2]}"),
        ("text,label", lambda n, label: f"hello {n},{label},always"),
        ("text,label", lambda n, label: f"hello {n},{label},note {n}"),
        ("label,text", lambda n, label: f"{label},hello {n},note {n}"),
        (
            "text,label",
            lambda n, label: f"hello {n},{label},{('new', 'new,vip', 'vip')[n % 4 % 3]}",
        ),
    ],
)
def test_further_columns_without_a_name_are_left_out_with_a_warning(header, make):
    """Columns without a name are ignored with a warning; naming them avoids it."""
    rows, codes = read(header, make)
    named, sure = read(f"{header},note", make)

    assert rows == named
    assert rows[0] == ("hello 0", "billing")
    assert "columnsGuessed" in codes
    assert not {"columnsGuessed", "cellsJoined"} & set(sure)


def test_labels_behind_the_last_name_are_chosen_by_their_position():
    """The warning about two possible label columns names a working choice for each."""

    def make(n, label):
        return f"hello {n},{('please', 'thanks')[n % 2]},{label}"

    alone, codes = read("text,label", make, label_column="3")
    joined, _ = read("text,label", make, label_column="3", text_column="1,2")

    assert (alone[1], len(alone), codes) == (("hello 1", "shipping"), 60, [])
    assert joined[1] == ("hello 1\n\nthanks", "shipping")


def test_cells_that_show_no_label_are_refused():
    """If neither the second nor the last cell can be a label, the file is refused."""
    with pytest.raises(InvalidUpload, match=r"has 3 cells, .* or name the other columns"):
        read("text,label", lambda n, label: f"hello {n},my parcel {n},note {n}")


def test_few_wide_rows_stay_rejected_and_unnamed_columns_of_sheets_stay():
    """A few wide rows are rejected, and unnamed columns are ignored."""
    few, codes = read("text,label", lambda n, label: f"hello {n}{', you' * (n < 9)},{label}")
    unnamed, _ = read("text,label,", lambda n, label: f"hello {n},{label},note {n}")

    assert (len(few), codes) == (51, [])
    assert unnamed[0] == ("hello 0", "billing")
