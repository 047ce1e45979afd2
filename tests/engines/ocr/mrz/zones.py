"""Example zones of ICAO Doc 9303, and pages with their lines."""

from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine
from chalicelib.engines.ocr.mrz.deciding import decide
from chalicelib.engines.ocr.mrz.formats import TD1, TD2, TD3

PASSPORT = (
    "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<",
    "L898902C36UTO7408122F1204159ZE184226B<<<<<10",
)
CARD = (
    "I<UTOD231458907<<<<<<<<<<<<<<<",
    "7408122F1204159UTO<<<<<<<<<<<6",
    "ERIKSSON<<ANNA<MARIA<<<<<<<<<<",
)
LONG_CARD = (
    "I<UTOD23145890<7349<<<<<<<<<<<",
    "3407127M9507122UTO<<<<<<<<<<<2",
    "STEVENSON<<PETER<JOHN<<<<<<<<<",
)
TWO_ROW_CARD = (
    "I<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<",
    "D231458907UTO7408122F1204159<<<<<<<6",
)
EXAMPLES = ((TD3, PASSPORT), (TD1, CARD), (TD1, LONG_CARD), (TD2, TWO_ROW_CARD))
LETTER_WIDTH, ROW_HEIGHT = 20, 40


def scores(rows, rivals=()):
    """Return scores of clearly read rows, with alternatives at given positions."""
    found = [[{letter: 0.0} for letter in row] for row in rows]
    for (row, column), others in dict(rivals).items():
        found[row][column] |= others
    return found


def decided(form, rows, rivals=()):
    """Decide on clearly read rows, with alternatives at given positions."""
    return decide(form, scores(rows, rivals))


def changed(rows, row, column, letter):
    """Return rows with one character changed."""
    lines = list(rows)
    lines[row] = lines[row][:column] + letter + lines[row][column + 1 :]
    return tuple(lines)


def page_of(rows, others=(), top=600):
    """Return a page with the rows of a zone below other lines."""
    lines = [_line(text, 30, 40 * number) for number, text in enumerate(others, 1)]
    lines += [_line(text, 50, top + ROW_HEIGHT * number) for number, text in enumerate(rows)]
    return ReadPage(Page(1, 1000, 800, 1.0), 0, None, tuple(lines))


def _line(text, left, top):
    return TextLine(text, 0.9, Rect(left, top, left + LETTER_WIDTH * len(text), top + 30))
