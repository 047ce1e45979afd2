"""Reading order of the parts of a page."""

import time
from math import cos, radians, sin
from random import Random

import pytest

from chalicelib.domain.documents.page import Rect, TextLine
from chalicelib.engines.ocr.layout.blocks import arrange, reading_places

PROSE = "some words of a paragraph"


def run(text, x, y, width, height=20):
    """Return a run of words at a position."""
    return TextLine(text, 1.0, Rect(x, y, x + width, y + height))


def column(name, x, y, count, width=400, step=28):
    """Return the lines of a column of prose, labelled by column and number."""
    return [run(f"{name}{n} {PROSE}", x, y + n * step, width) for n in range(count)]


def order(runs, *, is_exact=True):
    """Return the first words of the runs in reading order."""
    blocks = arrange(runs, is_exact=is_exact)
    parts = [part for block in blocks for line in block.rows for part in line]
    return [runs[part.index].text[part.begin : part.end].split()[0] for part in parts]


def names(name, count):
    """Return the first words of a column."""
    return [f"{name}{n}" for n in range(count)]


@pytest.mark.parametrize("shift", [0, 9, 14])
def test_columns_are_read_one_after_the_other(shift):
    """Columns are read one after the other, with title, headings across, and page number."""
    runs = [
        run("Title", 200, 30, 500, 40),
        *column("a", 50, 110, 5),
        *column("b", 500, 110 + shift, 5),
        run("Across", 50, 290, 850, 24),
        *column("c", 50, 340, 4),
        *column("d", 500, 340 + shift, 4),
        run("17", 870, 540, 25),
    ]
    Random(3).shuffle(runs)

    expected = ["Title", *names("a", 5), *names("b", 5), "Across", *names("c", 4), *names("d", 4)]
    assert order(runs) == [*expected, "17"]


def test_three_columns():
    """Both gutters of three columns are found, also if a heading spans two of them."""
    runs = [
        run("Over", 50, 100, 560, 24),
        *column("a", 50, 140, 6, 260),
        *column("b", 350, 145, 6, 260),
        *column("c", 650, 100, 8, 260),
    ]

    assert order(runs) == ["Over", *names("a", 6), *names("b", 6), *names("c", 8)]


def test_a_short_heading_between_columns_ends_them():
    """A short heading between columns belongs to the text below it on both sides."""
    runs = [
        *column("a", 50, 100, 5),
        *column("b", 500, 100, 5),
        run("Heading", 50, 275, 130, 30),
        *column("c", 50, 330, 4),
        *column("d", 500, 330, 4),
    ]

    expected = [*names("a", 5), *names("b", 5), "Heading", *names("c", 4), *names("d", 4)]
    assert order(runs) == expected


def test_pictures_in_and_across_columns():
    """An image within a column does not end it; one across all columns does."""
    inside = [*column("a", 50, 100, 4), *column("c", 50, 500, 3), *column("b", 500, 100, 17)]
    across = [
        *column("a", 50, 100, 4),
        *column("b", 500, 100, 4),
        *column("c", 50, 500, 4),
        *column("d", 500, 500, 4),
    ]

    assert order(inside) == [*names("a", 4), *names("c", 3), *names("b", 17)]
    assert order(across) == [*names("a", 4), *names("b", 4), *names("c", 4), *names("d", 4)]


def test_tables_are_read_row_by_row():
    """Short texts in matching rows are a table and are read row by row."""
    rows = [["Item", "Count", "Price"], ["Pens", "2", "3.00"], ["Ink", "1", "9.00"]]
    runs = [
        run(text, 50 + 250 * column, 100 + 40 * row, 80)
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    ]

    assert order(runs[::-1]) == [text for texts in rows for text in texts]


def test_blocks_and_lines():
    """Gaps, larger print and indents start a block; runs side by side are one line."""
    runs = [
        run("Heading", 50, 40, 200, 34),
        *column("a", 50, 90, 3),
        *column("b", 50, 200, 2),
        run(f"c0 {PROSE}", 80, 256, 370),
        *column("d", 50, 284, 2),
        run("Total", 50, 400, 60),
        run("5.00", 300, 400, 60),
    ]

    blocks = arrange(runs, is_exact=True)

    assert [[len(line) for line in block.rows] for block in blocks] == [
        [1],
        [1, 1, 1],
        [1, 1],
        [1, 1, 1],
        [2],
    ]
    places = reading_places(blocks)
    assert [place.order for place in places] == list(range(1, 12))
    assert (places[0].block, places[0].line) == (1, 1)
    assert (places[10].block, places[10].line, places[9].line) == (5, 10, 10)


def test_a_slanted_page_is_read_like_a_level_one():
    """On a page slanted by three degrees columns and order are the same."""
    angle = radians(3)

    def slanted(line):
        quad = tuple(
            (x * cos(angle) - y * sin(angle), x * sin(angle) + y * cos(angle))
            for x, y in line.corners
        )
        xs, ys = zip(*quad, strict=True)
        return TextLine(line.text, 1.0, Rect(min(xs), min(ys), max(xs), max(ys)), quad)

    runs = [*column("a", 50, 100, 12), *column("b", 500, 107, 12), run("Foot", 300, 600, 400)]

    assert order([slanted(line) for line in runs]) == [*names("a", 12), *names("b", 12), "Foot"]


@pytest.mark.parametrize("kind", ["grid", "nested", "same", "random", "diagonal", "stairs"])
def test_any_boxes_are_ordered_soon_and_each_once(kind):
    """5,000 runs in any arrangement are ordered quickly, each exactly once."""
    random = Random(kind)
    boxes = {
        "grid": lambda n: (n % 70 * 30, n // 70 * 30, 20, 20),
        "nested": lambda n: (n / 10, n / 10, 2000 - n / 5, 2000 - n / 5),
        "same": lambda n: (10, 10, 50, 20),
        "random": lambda n: tuple(random.uniform(0, 2000) for _ in range(4)),
        "diagonal": lambda n: (n * 30, n * 30, 20, 20),
        "stairs": lambda n: (n % 50 * 60, n * 3, 40, 20),
    }
    runs = [run(f"{n} {PROSE}", *boxes[kind](n)) for n in range(5_000)]
    began = time.process_time()

    found = order(runs)

    assert sorted(found, key=int) == [str(n) for n in range(5_000)]
    assert time.process_time() - began < 3


@pytest.mark.parametrize("runs", [[], [run("1", 0, 0, 0, 0)], [run("1", 5, 5, -5, -5)]])
def test_empty_pages_and_boxes(runs):
    """Empty input, a box without a size and an inverted box are handled."""
    assert order(runs) == [line.text for line in runs]


def test_a_run_that_reaches_over_a_gutter_is_read_in_parts():
    """A run that was read across a gutter is split into its columns."""
    left, right = f"a4 {PROSE}, wider", f"b4 {PROSE}"
    text, count = f"{left} {right}", len(left)
    places = tuple((n + 0.5 if n < count else n + 4.5) / (len(text) + 4) for n in range(len(text)))
    crossing = TextLine(text, 1.0, Rect(50, 212, 900, 232), None, places)
    runs = [*column("a", 50, 100, 4), crossing, *column("b", 540, 100, 4, 360)]

    expected = [*names("a", 4), "a4", *names("b", 4), "b4"]
    assert order(runs, is_exact=False) == expected
    places = reading_places(arrange(runs, is_exact=False))
    assert sorted(place.order for place in places) == list(range(1, 10))


def test_the_size_of_print_does_not_depend_on_its_letters():
    """The measured text size does not depend on which letters a line has, or on a slight tilt."""
    runs = [
        TextLine(text, 1.0, Rect(50, base - rise, 450, base + fall))
        for text, base, rise, fall in [
            ("see our own mosses in", 120, 18, 0),
            ("now as ever we are", 150, 13, 0),
            ("every page (gladly)", 180, 18, 5),
        ]
    ]

    askew = ((50, 190), (450, 196), (450, 214), (50, 208))
    runs.append(TextLine("our letters lean here", 1.0, Rect(50, 190, 450, 214), askew))

    (block,) = arrange(runs, is_exact=False)
    heights = [line[0].height for line in block.rows]
    assert max(heights) - min(heights) < 2


def test_lines_flow_on_where_the_next_word_had_no_room():
    """A line continues on the next one only if the next word did not fit."""
    runs = [
        run("Ms Jane Roe", 50, 100, 110),
        run("4 Elm Street", 50, 128, 120),
        *[run(f"a {PROSE}, and {PROSE}", 50, 156 + 28 * n, 500) for n in range(2)],
    ]

    (block,) = arrange(runs, is_exact=True)

    assert [block.flows_on(number) for number in range(3)] == [False, False, True]


def test_spaces_of_a_title_are_no_gutter():
    """Wide word spaces in large print are not a gutter."""
    runs = [
        run("Large", 50, 30, 430, 48),
        run("Title", 505, 30, 395, 48),
        *column("a", 50, 110, 5),
        *column("b", 500, 110, 5),
    ]

    assert order(runs) == ["Large", "Title", *names("a", 5), *names("b", 5)]


def test_a_column_may_begin_with_a_picture():
    """Lines next to an image at the top of a column are part of that column."""
    runs = [
        *column("a", 50, 100, 7, 400),
        *column("c", 50, 296, 6, 380),
        *column("b", 500, 302, 8, 390),
    ]

    assert order(runs) == [*names("a", 7), *names("c", 6), *names("b", 8)]


def test_what_ends_above_the_other_side_is_read_first():
    """Totals on the right above notes on the left are not two columns."""
    totals = [run(f"t{n} total", 700, 100 + 40 * n, 150) for n in range(4)]
    notes = column("n", 50, 300, 3)

    assert order([*notes, *totals]) == [*names("t", 4), *names("n", 3)]


def test_print_that_runs_up_the_margin_is_no_part_of_a_line():
    """Vertical text in the margin is read last and is not joined to lines next to it."""
    runs = [run("0000110", 5, 90, 20, 120), *column("a", 50, 100, 3), run("I", 50, 190, 4)]

    assert order(runs) == [*names("a", 3), "I", "0000110"]


@pytest.mark.parametrize(
    ("x", "y", "is_column"), [(500, 78, True), (780, 78, False), (500, 60, False)]
)
def test_a_right_column_may_begin_higher(x, y, is_column):
    """A line at the top of a right column belongs to it, unless it is indented or apart."""
    runs = [
        run("Title", 200, 10, 500, 30),
        run("First", x, y, 120),
        *column("a", 50, 158, 5),
        *column("b", 500, 102, 7),
    ]

    columns = [*names("a", 5), "First", *names("b", 7)]
    assert order(runs) == (
        ["Title", *columns] if is_column else ["Title", "First", *names("a", 5), *names("b", 7)]
    )


def test_lists_next_to_each_other_are_columns():
    """Lists are read one after the other, unlike rows of a table, although they are short."""
    cells = [(name, n, x, 100 + 28 * n) for n in range(4) for name, x in (("a", 50), ("b", 500))]
    lists = [run(f"•{name}{n} item", x, y, 90) for name, n, x, y in cells]
    table = [run(f"{name}{n} cell", x, y, 90) for name, n, x, y in cells]

    assert order(lists) == [*names("•a", 4), *names("•b", 4)]
    assert order(table) == [f"{name}{n}" for name, n, _, _ in cells]


def test_an_indented_line_of_an_item_begins_no_paragraph():
    """A wrapped line between two items is indented, and continues the first item."""
    runs = [
        *[run("1.", 50, y, 14) for y in (100, 156)],
        run("An item that is longer than a", 110, 100, 390),
        run("single line", 110, 128, 110),
        run("Next", 110, 156, 40),
    ]

    (block,) = arrange(runs, is_exact=True)

    assert [block.flows_on(number) for number in range(2)] == [True, False]


def test_parts_of_a_line_are_in_letters_of_one_size():
    """A part of a line is as high as the whole line, also if it has only low letters."""
    runs = [run("1.", 50, 100, 14, 17), run("roman one", 80, 100, 90, 17)]

    ((row,),) = (block.rows for block in arrange(runs, is_exact=False))

    assert row[0].height == row[1].height


@pytest.mark.parametrize(("width", "flows_on"), [(250, False), (350, True)])
def test_the_longer_of_two_lines_is_wrapped_only_if_it_is_wide(width, flows_on):
    """Two lines show no margin, unless they fill most of the width of their flow."""
    runs = [
        run(f"First {PROSE}", 50, 100, width),
        run(f"Second {PROSE}", 50, 128, width - 20),
        *column("a", 50, 170, 3, 500),
    ]

    block, _ = arrange(runs, is_exact=True)

    assert block.flows_on(0) is flows_on


def test_a_heading_far_above_its_text_is_a_block():
    """The distance of two lines is compared with the smaller of them."""
    heading, text = run("Heading", 50, 100, 200, 24), run(f"Text {PROSE}", 50, 144, 400, 20)

    assert len(arrange([heading, text], is_exact=True)) == 2


def test_the_longest_item_of_a_list_is_not_wrapped():
    """Items end where their text ends, so the longest does not show the margin."""
    items = [run(f"• item {n} of a list", 50, 100 + 28 * n, 150 + 10 * n) for n in range(4)]

    block, *_ = arrange([*items[::-1], *column("a", 50, 260, 3, 500)], is_exact=True)

    assert not any(block.flows_on(number) for number in range(3))


def test_a_long_word_may_be_wider_than_its_number_of_letters():
    """A word without spaces and narrow letters is wider than the average of its line."""
    runs = [
        run("a line that ends early, because the", 50, 100, 400),
        run("mammoths do not fit in it in this way", 50, 128, 390),
        run("and this is the widest line of all lines", 50, 156, 500),
    ]

    (block,) = arrange(runs, is_exact=True)

    assert block.flows_on(0)


def test_a_separate_bullet_does_not_show_the_size_of_letters():
    """The ink of a bullet may be as high as a letter, and its item stays in one block."""
    runs = [run("•", 50, 98, 9, 24), run("An item", 80, 100, 400), run("continued", 80, 128, 90)]

    assert len(arrange(runs, is_exact=False)) == 1
