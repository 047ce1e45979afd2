"""Characters as PDFium reports them, tested with whole pages."""

from __future__ import annotations

import pytest

from tests.formats.opened import LINES, first_page, texts
from tests.pdfs import Sheet, Writer, add_sheets, pdf, text_sheet, words

TEXT = "The quick brown fox jumps over"
_MAP = (
    b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap "
    b"/CMapName /M def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange "
    b"%d beginbfchar %s endbfchar endcmap end end"
)


def mapped(text, letters):
    """Read a page whose font has a table that defines its letters.

    Args:
        text: What is drawn.
        letters: What drawn letters are said to be.
    """
    rows = b" ".join(
        b"<%02x> <%s>" % (ord(drawn), said.encode("utf-16-be").hex().encode())
        for drawn, said in letters.items()
    )
    writer = Writer()
    table = writer.add(b"", _MAP % (len(letters), rows))
    font = writer.add(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding "
        b"/ToUnicode %d 0 R >>" % table
    )
    return with_font(writer, font, text)


def with_font(writer, font, text):
    """Read a page of one line in a separate font."""
    sheet = Sheet(words(text, 72, 700, font="G"), objects=b"/Font << /G %d 0 R >>" % font)
    data = writer.finish(add_sheets(writer, [sheet]))
    # The page's own font takes the place of the usual ones.
    return first_page(data.replace(b"/Resources << /Font << /F1", b"/Resources << /None << /F1"))


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_pages_are_displayed_as_they_are_turned(rotate):
    """Text is read as the page is displayed, after its rotation."""
    page = first_page(pdf([text_sheet(LINES, rotate=rotate)]), needs_pixels=True)
    assert texts(page) == LINES
    assert (page.width < page.height) == (rotate in (0, 180))
    assert (page.layer[0].quad is None) == (rotate == 0)
    for line in page.layer:
        box = line.box
        inside = page.pixels[int(box.min_y) : int(box.max_y) + 1, int(box.min_x) : int(box.max_x)]
        assert inside.min() < 100
    first, second = page.layer[0].corners[0], page.layer[1].corners[0]
    down = {0: (0, 1), 90: (-1, 0), 180: (0, -1), 270: (1, 0)}[rotate]
    assert (second[0] - first[0]) * down[0] + (second[1] - first[1]) * down[1] > 30


def test_text_turned_against_the_page_is_upright():
    """Text rotated against the page's rotation is upright and needs no corners."""
    content = words(TEXT, 300, 200, angle=90)
    page = first_page(pdf([Sheet(content, rotate=90)]))
    assert texts(page) == [TEXT]
    assert page.layer[0].quad is None


def test_crop_boxes_cut():
    """Text outside the crop box is not read."""
    content = words(TEXT, 300, 400) + words("outside of what is displayed", 20, 20)
    page = first_page(pdf([Sheet(content, crop=(250, 300, 550, 500))]))
    assert texts(page) == [TEXT]
    assert (page.width, page.height) == (833, 556)
    assert page.layer[0].box.min_x == pytest.approx(50 * 200 / 72, abs=3)


def test_odd_origins():
    """Coordinates are relative to the page box's own corner."""
    page = first_page(pdf([Sheet(words(TEXT, 1100, -900), media=(1000, -1000, 1500, -500))]))
    assert page.layer[0].box.min_x == pytest.approx(100 * 200 / 72, abs=3)
    assert page.layer[0].box.max_y == pytest.approx(400 * 200 / 72 + 8, abs=4)


def test_ligatures_and_marks():
    """Ligatures become letters, drawn soft hyphens become hyphens, joiners are dropped."""
    said = {"#": "\ufb01", "$": "\xad", "%": "\u200d", "&": "\ufb04"}
    page = mapped("#nd the e$mail o&er of the office%", said)
    assert texts(page) == ["find the e-mail offler of the office"]


def test_letters_that_a_table_expands():
    """A glyph mapped to two equal letters keeps both."""
    page = mapped("o#ce and e$ort of the people", {"#": "ffi", "$": "ff"})
    assert texts(page) == ["office and effort of the people"]


def test_other_alphabets_are_exact():
    """A text layer may have letters that the OCR engine cannot read."""
    said = {"a": "ж", "b": "中", "c": "é", "d": "→"}
    page = mapped("abcd abcd and more text to read", said)
    assert texts(page)[0].startswith("ж中é→ ж中é→ ")


def test_fonts_that_do_not_say_what_their_letters_are():
    """Fonts without a character map are not trusted, and the page is drawn."""
    names = b" ".join(b"/g%d" % code for code in range(32, 127))
    writer = Writer()
    font = writer.add(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica "
        b"/Encoding << /Type /Encoding /Differences [32 %s] >> >>" % names
    )
    page = with_font(writer, font, TEXT)
    assert page.layer is None
    assert page.pixels is not None


def test_negative_sizes_and_mirrored_matrices():
    """Text whose negative font size and mirrored matrix cancel out is read upright."""
    content = b"BT /F1 -12 Tf -1 0 0 -1 72 700 Tm (%s) Tj ET" % TEXT.encode()
    page = first_page(pdf([Sheet(content)]))
    assert texts(page) == [TEXT]
    assert page.layer[0].quad is None


def test_scaled_text():
    """A font of size 1 in a scaled coordinate system has its displayed height."""
    page = first_page(pdf([Sheet(b"BT /F1 1 Tf 12 0 0 12 72 700 Tm (%s) Tj ET" % TEXT.encode())]))
    assert texts(page) == [TEXT]
    assert page.layer[0].box.height == pytest.approx(0.97 * 12 * 200 / 72, rel=0.01)


def test_letter_by_letter():
    """Letters placed one by one are joined into words."""
    content = b"".join(
        words(letter, 72 + 7 * number, 700)
        for number, letter in enumerate("single letters make words")
        if letter != " "
    )
    (line,) = texts(first_page(pdf([Sheet(content)])))
    assert line.replace(" ", "") == "singlelettersmakewords"


def test_fake_bold_is_kept_once():
    """A title printed twice for bold appears once."""
    content = words(TEXT, 72, 700) + words(TEXT, 72.4, 700)
    assert texts(first_page(pdf([Sheet(content)]))) == [TEXT]
