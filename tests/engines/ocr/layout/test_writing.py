"""Writing a document as plain text and as Markdown."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.documents.findings import Cell, Table
from chalicelib.domain.documents.layout import MARKDOWN, PLAIN, WrittenBlock
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.layout.writing import write, written_blocks


def block(*lines, height=20.0):
    """Return a block of text."""
    return WrittenBlock(lines, (True,) * (len(lines) - 1), height)


def table_block(table):
    """Return a block of a table."""
    return WrittenBlock((), (), 0.0, table)


def a_table(*rows, kind="columnHeader"):
    """Return a table whose first row has a kind."""
    return Table(
        Rect(0, 100, 300, 200),
        tuple(
            Cell(r, c, text, 1.0, Rect(0, 0, 1, 1), kind if r == 1 else "normal")
            for r, row in enumerate(rows, 1)
            for c, text in enumerate(row, 1)
        ),
    )


BODY = block(
    "A long paragraph whose first line ends in a divi-", "ded word, and whose", "last is short."
)


def test_plain_text():
    """Line breaks stay; blocks and pages are separated by an empty line."""
    assert write([[block("One", "two")], [block("three")]], PLAIN) == "One\ntwo\n\nthree"
    assert write([[], []], PLAIN) == write([], MARKDOWN) == ""


def test_markdown_paragraphs_and_headings():
    """Lines are joined, hyphenated words restored, larger print becomes headings."""
    pages = [
        [block("Title", height=44), block("Chapter", height=30), BODY, block("Part", height=26)],
        [block("Second chapter", height=31), BODY],
    ]

    assert write(pages, MARKDOWN).split("\n\n") == [
        "# Title",
        "## Chapter",
        "A long paragraph whose first line ends in a divided word, and whose last is short.",
        "## Part",
        "## Second chapter",
        "A long paragraph whose first line ends in a divided word, and whose last is short.",
    ]


def test_hyphens_that_divide_no_word_stay():
    """A hyphen before a capital or digit, or after a space, does not divide a word."""
    assert write([[block("Saint-", "Denis 1990-", "95 and -", "more")]], MARKDOWN) == (
        "Saint- Denis 1990- 95 and - more"
    )


def test_lines_that_were_ended_on_purpose_stay():
    """Intended line breaks end in a backslash, and list marks on the next line are escaped."""
    address = WrittenBlock(("Jane Roe", "- 4 Elm", "Street", "1. Town"), (False, True, False), 20)

    assert write([[address]], MARKDOWN) == "Jane Roe\\\n\\- 4 Elm Street\\\n1\\. Town"
    assert write([[address]], PLAIN) == "Jane Roe\n- 4 Elm\nStreet\n1. Town"


def test_markdown_lists():
    """Bullets become list items; a leading number or hyphen is escaped."""
    texts = ["• First", "– Second", "-5 degrees", "1. Third", "12) Fourth", "2024 was", "+ plus"]

    assert write([[block(text) for text in texts]], MARKDOWN).split("\n\n") == [
        "- First",
        "- Second",
        "\\-5 degrees",
        "1\\. Third",
        "12\\) Fourth",
        "2024 was",
        "\\+ plus",
    ]


def test_markdown_tables():
    """Tables have pipes and a rule below the header; without a header the first row is empty."""
    headed = a_table(["Item", "Price"], ["Pen | ink", "3.00"])
    bare = a_table(["a", "b"], ["", "d"], kind="normal")

    assert write([[table_block(headed), table_block(bare)]], MARKDOWN) == (
        "| Item | Price |\n| --- | --- |\n| Pen \\| ink | 3.00 |\n\n"
        "|  |  |\n| --- | --- |\n| a | b |\n|  | d |"
    )


def test_a_table_stands_where_its_text_was():
    """A table replaces the runs inside it; runs around it stay."""
    runs = [
        TextLine(text, 1.0, Rect(x, y, x + 8 * len(text), y + 20))
        for text, x, y in [
            ("Above it stands a line", 0, 40),
            ("Item", 0, 110),
            ("Price", 200, 110),
            ("Below it stands another", 0, 240),
        ]
    ]
    table = a_table(["Item", "Price"], ["Pen", "3.00"])

    page = ReadPage(Page(1, 400, 300, 1.0), 0, None, (), is_exact=True)

    found = written_blocks(page, runs, [table])

    assert [each.lines for each in found] == [
        ("Above it stands a line",),
        (),
        ("Below it stands another",),
    ]
    assert found[1].table is table


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "[a](javascript:b) ![c](d)",
        "*a* _b_ `c` ~~d~~ **e**",
        "&lt;b&gt; &amp; &#60;",
        "# no heading #",
        "> no quote",
        "| no | table |",
        "--- *** ___",
        "<!-- a --> <a href='b'>",
        "\\<b>",
    ],
)
def test_markup_on_a_page_is_escaped(text):
    """Special characters are escaped, and unescaping gives the original text."""
    for written in (
        write([[block(text)]], MARKDOWN),
        write([[table_block(a_table([text], ["b"]))]], MARKDOWN).split("\n")[0][2:-2],
    ):
        bare = re.sub(r"\\([!-/:-@\[-`{-~])", "", written)
        assert not set(bare) & set("<>`*_[]|~&#\\"), written
        assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written) == text


@given(
    st.lists(
        st.lists(st.text(string.printable[:95], min_size=1, max_size=9), min_size=1, max_size=4),
        max_size=4,
    )
)
def test_no_text_gets_through_as_markup(texts):
    """In any text every special character is escaped."""
    for line in write([[block(*lines) for lines in texts]], MARKDOWN).split("\n\n"):
        bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", line.removeprefix("- "))
        assert not set(bare) & set("<>`*_[]|~&#\\")
