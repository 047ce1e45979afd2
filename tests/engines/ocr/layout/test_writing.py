"""Writing a document as plain text and as Markdown."""

import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chalicelib.domain.documents.findings import Cell, Table
from chalicelib.domain.documents.layout import MARKDOWN, PLAIN, WrittenBlock
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.layout.writing import write, written_blocks

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def block(*lines, height=20.0):
    """Return a block of text."""
    return WrittenBlock(lines, (True,) * (len(lines) - 1), height)


def table_block(table):
    """Return a block of a table."""
    return WrittenBlock((), (), 0.0, table)


def a_place(row, column):
    """Return the box of a cell."""
    return Rect(200 * column - 200, 50 * row + 50, 200 * column, 50 * row + 90)


def a_table(*rows, kind="columnHeader"):
    """Return a table whose first row has a kind."""
    return Table(
        Rect(0, 100, 300, 200),
        tuple(
            Cell(r, c, text, 1.0, a_place(r, c), kind if r == 1 else "normal")
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


def test_compounds_keep_their_hyphen():
    """A word that has a hyphen within a line keeps it at the end of a line."""
    assert write(
        [[block("A well-known but un-", "known and (well-", "known) word")]], MARKDOWN
    ) == ("A well-known but unknown and (well-known) word")


def test_lines_that_were_ended_on_purpose_stay():
    """Intended line breaks end in a backslash, and list marks on the next line are escaped."""
    address = WrittenBlock(("Jane Roe", "+ 4 Elm", "Street", "1. Town"), (False, True, False), 20)

    assert write([[address]], MARKDOWN) == "Jane Roe\\\n\\+ 4 Elm Street\\\n1\\. Town"
    assert write([[address]], PLAIN) == "Jane Roe\n+ 4 Elm\nStreet\n1. Town"


def lines(*places_and_texts, wrapped=()):
    """Return a block with lines at given left edges; the lines of these numbers are wrapped."""
    lefts, texts = zip(*places_and_texts, strict=True)
    flows_on = tuple(number in wrapped for number in range(1, len(texts)))
    return WrittenBlock(texts, flows_on, 20.0, lefts=lefts)


def test_each_list_item_is_an_item():
    """Items of a block are separate; wrapped lines are joined to them; text below ends the list."""
    block = lines(
        (0, "We need:"),
        (20, "• a pass-"),
        (40, "port, and"),
        (20, "• proof"),
        (40, "of address"),
        (0, "Thank you."),
        wrapped=(2,),
    )

    assert write([[block]], MARKDOWN) == (
        "We need:\n\n- a passport, and\n- proof\\\n  of address\n\nThank you."
    )


def test_numbered_items():
    """Numbers that Markdown would not count like the page, and letters, are text of the items."""
    texts = ["1. One", "2. Two", "4. Four", "5. Five", "a) A", "b) B", "(i) I", "(ii) II", "12) X"]

    assert write([[lines(*((0, text) for text in texts))]], MARKDOWN) == (
        "1. One\n2. Two\n- 4\\. Four\n- 5\\. Five\n- a) A\n- b) B\n- (i) I\n- (ii) II\n\n12\\) X"
    )


def test_indented_items_are_nested():
    """Marks further to the right are a level deeper, but not those of another column."""
    texts = [(0, "• A"), (30, "1) B"), (30, "2) C"), (60, "– D"), (10, "• E"), (300, "• F")]

    assert write([[lines(*texts)]], MARKDOWN) == ("- A\n  1) B\n  2) C\n     - D\n- E\n- F")


def test_asterisks_are_bullets_if_there_are_several():
    """An asterisk alone is the mark of a footnote."""
    footnote = lines((0, "** without"), (0, "* with tax"))

    assert write([[lines((0, "* One"), (0, "* Two"))]], MARKDOWN) == "- One\n- Two"
    assert write([[footnote]], MARKDOWN) == "** without\\\n\\* with tax"


def test_a_letter_o_is_a_bullet_below_items():
    """Word processors use the letter o as the bullet of the second level."""
    blocks = [lines((0, "• One")), lines((30, "o Two")), lines((0, "End.")), lines((0, "o dia"))]

    assert write([blocks], MARKDOWN) == "- One\n  - Two\n\nEnd.\n\no dia"


def test_paragraphs_within_and_after_items():
    """An indented paragraph belongs to the item above; others end the list."""
    blocks = [lines((0, "1. One")), lines((25, "More.")), lines((0, "2. Two")), lines((0, "End."))]

    assert write([blocks], MARKDOWN) == "1. One\n\n   More.\n2. Two\n\nEnd."


def test_wrapped_lines_that_begin_like_items():
    """A wrapped line of a paragraph may begin with a dash, and a lone number is not an item."""
    text = lines((0, "The old house"), (0, "– it was empty –"), (0, "burned in"), wrapped=(1, 2))

    assert write([[text]], MARKDOWN) == "The old house – it was empty – burned in"
    assert write([[block("-5 degrees"), block("12. March"), block("1.5 m")]], MARKDOWN) == (
        "-5 degrees\n\n12\\. March\n\n1.5 m"
    )


def test_items_and_numbers_are_not_headings():
    """A bullet item or a line without letters is not a heading, also in large letters."""
    large = [block("1. Costs", height=40), block("• Low", height=40), block("2024", height=60)]

    assert write([[*large, BODY]], MARKDOWN).split("\n\n")[:3] == ["# 1. Costs", "- Low", "2024"]


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


def test_lines_in_columns_are_a_table():
    """Addresses side by side stay together; in plain text their lines stay lines."""
    texts = [["Bill to:", "Ship to:"], ["Jane Roe", ""], ["4 Elm St", "5 Oak|St"]]
    runs = [
        TextLine(text, 1.0, Rect(x, y, x + 90, y + 20))
        for y, row in zip((100, 128, 156), texts, strict=True)
        for x, text in zip((0, 400), row, strict=True)
        if text
    ]
    page = ReadPage(Page(1, 800, 300, 1.0), 0, None, (), is_exact=True)

    found = written_blocks(page, runs, ())

    assert write([found], PLAIN) == "Bill to: Ship to:\nJane Roe\n4 Elm St 5 Oak|St"
    assert write([found], MARKDOWN).splitlines() == [
        "|  |  |",
        "| --- | --- |",
        "| Bill to: | Ship to: |",
        "| Jane Roe |  |",
        "| 4 Elm St | 5 Oak\\|St |",
    ]


def test_lines_of_lists_and_single_lines_are_not_tables():
    """A list with page numbers is a list, and a title with a date is a line."""
    page = ReadPage(Page(1, 800, 300, 1.0), 0, None, (), is_exact=True)
    for texts in (["1. A", "3", "2. B", "9"], ["Title", "May", "Text of the page"]):
        runs = [
            TextLine(text, 1.0, Rect(400 * (number % 2), y, 400 * (number % 2) + 99, y + 20))
            for number, text in enumerate(texts)
            for y in [100 + 28 * (number // 2)]
        ]
        assert "|" not in write([written_blocks(page, runs, ())], MARKDOWN)


@pytest.mark.parametrize(("text_left", "table_left"), [(0, 400), (400, 0)])
def test_text_next_to_a_table_is_a_column(text_left, table_left):
    """A table does not interrupt the lines next to it; the left side is read first."""
    texts = [(90, "Sender"), (120, "Jane Roe"), (150, "4 Elm Street"), (180, "Springfield")]
    runs = [
        TextLine(text, 1.0, Rect(text_left, y, text_left + 8 * len(text), y + 20))
        for y, text in texts
    ]
    page = ReadPage(Page(1, 800, 300, 1.0), 0, None, (), is_exact=True)
    place = Rect(table_left, 100, table_left + 300, 200)
    table = Table(place, (Cell(1, 1, "Date", 1.0, place),))

    found = [each.lines for each in written_blocks(page, runs, [table])]

    address = tuple(text for _, text in texts)
    assert found == ([address, ()] if text_left < table_left else [(), address])


def test_a_separate_bullet_does_not_change_the_height_of_a_block():
    """The letters of an item have the height of its text, not of its bullet."""
    text = TextLine("An item", 1.0, Rect(30, 100, 130, 120))
    bullet = TextLine("•", 1.0, Rect(0, 98, 9, 122))
    page = ReadPage(Page(1, 400, 300, 1.0), 0, None, ())

    (with_bullet,) = written_blocks(page, [bullet, text], ())

    assert with_bullet.lines == ("• An item",)
    assert with_bullet.height == written_blocks(page, [text], ())[0].height


def test_text_in_no_cell_of_a_table_stays():
    """Text within the box of a table, such as a stamp, is kept if no cell contains its words."""
    cells = (
        Cell(1, 1, "Pen", 1.0, Rect(0, 110, 30, 130)),
        Cell(2, 2, "", 1.0, Rect(90, 130, 300, 200)),
    )
    table = Table(Rect(0, 100, 300, 200), cells)
    runs = [
        TextLine("Pen", 1.0, Rect(0, 105, 32, 135)),
        TextLine("CANCELLED", 1.0, Rect(100, 150, 200, 170)),
        TextLine("Pen box", 1.0, Rect(0, 111, 30, 129)),
    ]
    page = ReadPage(Page(1, 400, 300, 1.0), 0, None, (), is_exact=True)

    found = written_blocks(page, runs, [table])

    assert [each.lines for each in found] == [("Pen box",), (), ("CANCELLED",)]
    assert found[1].table is table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Receipt #4711 for C#", "Receipt #4711 for C#"),
        ("a_b, x < y, A & B, [1], ~5 km", "a_b, x < y, A & B, [1], ~5 km"),
        ("2 * a > 5 | 64.00 - 1", "2 * a > 5 | 64.00 - 1"),
        ("Name: ____ Town: ____", "Name: ____ Town: ____"),
        ("** From 2025", "** From 2025"),
        ("*a* __b__ ~~c~~", "*a\\* __b\\_\\_ ~~c\\~\\~"),
        ("<b>&lt;</b> [a](b)", "\\<b>\\&lt;\\</b> [a\\](b)"),
    ],
)
def test_only_markup_is_escaped(text, written):
    """Characters that Markdown does not interpret at their place have no backslash."""
    assert write([[block(text)]], MARKDOWN) == written
    assert write([[block(text, height=40), BODY]], MARKDOWN).split("\n\n")[0] == f"# {written}"


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
    """Markdown renders the text of a page as it is, in paragraphs, headings and tables."""
    assert rendered(write([[block(text)]], MARKDOWN)) == ["paragraph", text]
    heading = write([[block(f"a {text}", height=40), BODY]], MARKDOWN).split("\n\n")[0]
    assert rendered(heading) == ["heading", f"a {text}"]
    table = write([[table_block(a_table([text], ["b"]))]], MARKDOWN)
    assert rendered(table) == ["th", text, "td", "b"]


@given(
    st.lists(
        st.lists(
            st.text(string.printable[:95].replace("o", "") + "# *_~", min_size=1, max_size=9),
            min_size=1,
            max_size=4,
        ),
        max_size=4,
    )
)
def test_no_text_gets_through_as_markup(texts):
    """Markdown renders any text as it is, in paragraphs and list items."""
    page = [block(*(" ".join(line.split()) or "x" for line in each)) for each in texts]

    shown = rendered(write([page], MARKDOWN))

    assert set(shown[::2]) <= {"paragraph"}
    # Hyphens are also bullets and join words; asterisks are also bullets.
    ignored = str.maketrans("", "", "-* ")
    text = "".join(line for each in page for line in each.lines)
    assert "".join(shown[1::2]).translate(ignored) == text.translate(ignored)


def rendered(written):
    """Return kind and text of each block that a Markdown renderer shows, one after the other."""
    shown, mark, numbers = [], "", []
    for opening, token in pairwise(RENDERER.parse(written)):
        if opening.type in ("ordered_list_open", "bullet_list_open"):
            numbers.append(opening.attrs.get("start", 1))
        elif opening.type in ("ordered_list_close", "bullet_list_close"):
            numbers.pop()
        elif opening.type == "list_item_open":
            mark = f"{numbers[-1]}{opening.markup}" if opening.info else ""
            numbers[-1] += 1
        if token.type == "inline":
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special", "hardbreak"}
            text = "".join(child.content for child in token.children)
            shown += [opening.type.removesuffix("_open"), mark + text]
            mark = ""
    return shown
