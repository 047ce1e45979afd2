"""Running heads, page numbers and headings are detected."""

from dataclasses import replace

from chalicelib.domain.documents.layout import WrittenBlock
from chalicelib.domain.documents.page import Rect
from chalicelib.engines.ocr.layout.roles import block_roles, heading_levels

HEIGHT = 1000.0


def block(text, top=500.0, size=20.0, bold=False):
    """Return a block of one line."""
    box = Rect(100, top, 100 + 8 * len(text), top + size)
    return WrittenBlock((text,), (), size, None, box, bold)


BODY = block("Body text that is longer than any other text of these pages, and ends in a stop.")


def roles(*pages):
    """Return the roles of the blocks of pages."""
    return block_roles(pages, [HEIGHT] * len(pages))


def test_running_heads_are_on_several_pages():
    """Equal text at the same edge of several pages is a running head; on one page it is not."""
    pages = [[block("Annual report", 30), BODY, block(f"{n}", 960)] for n in (7, 8, 9)]
    assert roles(*pages) == [["pageHeader", "body", "pageFooter"]] * 3
    assert roles(pages[0]) == [["body", "body", "body"]]
    assert (
        roles([block("Annual report", 300), BODY], [block("Annual report", 300), BODY])
        == [["body", "body"]] * 2
    )


def test_page_numbers_are_recognised_on_one_page():
    """On a single page a page number is recognized by its wording."""
    for text in ("Page 1 of 3", "2 / 4", "- 12 -", "Seite 3"):
        assert roles([BODY, block(text, 970)]) == [["body", "pageFooter"]]
    assert roles([BODY, block("Room 12", 970)]) == [["body", "body"]]


def test_sums_at_the_foot_of_pages_are_body_text():
    """Numbers at the foot that differ by more than the page number are body text."""
    pages = [[BODY, block(f"Amount due: {sum_}", 960)] for sum_ in (400, 1250, 17)]
    assert roles(*pages) == [["body", "body"]] * 3


def test_titles_on_every_page_are_no_running_heads():
    """Large text at the top of every page, such as an invoice title, is a heading."""
    pages = [[block("INVOICE", 30, size=40), BODY]] * 2
    assert roles(*pages) == [["heading", "body"]] * 2


def test_bold_lines_that_stand_alone_are_headings():
    """Bold text of body size is a heading unless it is a label or most text is bold."""
    title, bold = block("Title", size=44), block("Opening hours", bold=True)
    assert heading_levels([title, bold, BODY]) == [1, 2, 0]
    assert heading_levels([title, block("Name:", bold=True), BODY]) == [1, 0, 0]
    assert heading_levels([bold, replace(BODY, is_bold=True)]) == [0, 0]
    assert heading_levels([BODY, bold]) == [0, 0]


def test_sizes_of_headings_are_not_rounded():
    """Small letters of images differ by less than a pixel from those of headings."""
    body = replace(BODY, height=10.5)
    assert heading_levels([block("Heading", size=12.7), body, block("Text", size=12.5)]) == [
        1,
        0,
        0,
    ]
