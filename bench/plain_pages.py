"""Draws pages that have aligned text but no tables: columns, lists, forms, charts.

These pages are negative examples for fitting the probability of tables. Names are invented.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from bench.drawn_pages import SENTENCES, font, wrapped
from bench.form_pages.contents import FIRMS, JOBS, NAMES, STREETS, TOWNS
from bench.form_pages.families import GENERIC
from bench.form_pages.sheet import HEIGHT, MARGIN, WIDTH, Sheet

Draw = Callable[[Sheet], None]
# Layouts of forms that do not look like a table.
_FORMS = (
    "colon, two columns", "no mark, two columns", "no mark, on rules, two columns", "leaders",
    "boxes, three columns", "below rules", "above, three columns", "numbered lines in boxes",
    "numbered lines, two amounts", "hints behind", "stacked languages, boxes", "dense card",
    "irregular boxes, amounts", "inside boxes", "two fields a line", "three fields a line",
    "receipt", "letter, references below", "tight grid, numbered", "licence, in lines",
)  # fmt: skip


def _columns(sheet: Sheet, count: int) -> None:
    """Write running text in columns. Some paragraphs have a heading."""
    random, size = sheet.random, sheet.random.randint(15, 20)
    gap = random.uniform(1.2, 3) * size
    width = (WIDTH - 2 * MARGIN + gap) / count
    top, end = random.uniform(80, 300), random.uniform(700, HEIGHT - 100)
    pitch = random.uniform(1.2, 1.5) * size
    for column in range(count):
        y = top
        while y < end:
            if random.random() < 0.2:
                text = " ".join(random.choice(SENTENCES["en"]).split()[:3])
                sheet.write(MARGIN + column * width, y, text, "DejaVuSans-Bold.ttf", size)
                y += pitch
            text = " ".join(random.sample(SENTENCES["en"], random.randint(1, 4)))
            for line in wrapped(text, font(sheet.caption_font, size), width - gap):
                sheet.write(MARGIN + column * width, y, line, sheet.caption_font, size)
                y += pitch
            y += random.choice((0, pitch))


def _items(sheet: Sheet, signs: Callable[[int], str]) -> None:
    """Write a list of indented items. Each item has a sign to its left, and one or more lines."""
    random, size, y = sheet.random, sheet.random.randint(16, 24), 120.0
    indent = random.uniform(2, 4) * size
    for number in range(random.randint(6, 24)):
        sheet.write(MARGIN, y, signs(number), sheet.caption_font, size)
        text = random.choice(SENTENCES["en"])
        if random.random() < 0.5:
            text = " ".join(text.split()[: random.randint(2, 6)])
        for line in wrapped(text, font(sheet.caption_font, size), WIDTH - 2 * MARGIN - indent):
            sheet.write(MARGIN + indent, y, line, sheet.caption_font, size)
            y += 1.3 * size
        y += random.choice((0.0, 0.4)) * size


def _address(random: Random) -> list[str]:
    lines = [
        " ".join(random.choice(NAMES)),
        f"{random.choice(STREETS)} {random.randint(1, 240)}",
        f"{random.randint(10000, 99999)} {random.choice(TOWNS)}",
    ]
    if random.random() < 0.4:
        lines.insert(random.randint(0, 1), random.choice((*FIRMS, *JOBS)))
    if random.random() < 0.3:
        lines.append(f"{random.randint(200, 999)}-{random.randint(1000, 9999)}")
    return lines


def _addresses(sheet: Sheet, columns: int) -> None:
    """Write addresses in columns and rows, like a page of address labels."""
    random, size, y = sheet.random, sheet.random.randint(16, 24), 140.0
    width = (WIDTH - 2 * MARGIN) / columns
    pitch = random.uniform(1.15, 1.5) * size
    for _ in range(random.randint(1, 7)):
        blocks = [_address(random) for _ in range(columns)]
        for column, lines in enumerate(blocks):
            for number, line in enumerate(lines):
                x, top = MARGIN + column * width, y + number * pitch
                sheet.write(x, top, line, sheet.value_font, size)
        y += (max(map(len, blocks)) + random.choice((0.2, 1.0, 1.5))) * pitch


def _chart(sheet: Sheet, bars: bool) -> None:
    """Draw a chart with numbers at one axis and names or years at the other axis."""
    random, size = sheet.random, sheet.random.randint(14, 22)
    left, top = random.uniform(150, 300), random.uniform(150, 400)
    right, bottom = random.uniform(800, 1100), random.uniform(700, 1200)
    for number in range(ticks := random.randint(4, 9)):
        y = bottom - number * (bottom - top) / ticks
        sheet.write(left - 3.5 * size, y - size / 2, f"{number * 10}", sheet.value_font, size)
        if random.random() < 0.5:
            sheet.rule(left, y, right, y)
    for number in range(names := random.randint(4, 9)):
        x = left + number * (right - left) / names
        text = str(2010 + number) if random.random() < 0.7 else random.choice(TOWNS)
        sheet.write(x, bottom + 0.6 * size, text, sheet.value_font, size)
        if bars:
            height = random.uniform(0.1, 0.9) * (bottom - top)
            sheet.frame(x, bottom - height, x + 0.5 * (right - left) / names, bottom)
            mark = f"{random.uniform(1, 90):.1f}"
            sheet.write(x, bottom - height - 1.4 * size, mark, sheet.value_font, size)


PLAIN: Mapping[str, Draw] = {
    "two columns": lambda sheet: _columns(sheet, 2),
    "three columns": lambda sheet: _columns(sheet, 3),
    "bullets": lambda sheet: _items(sheet, lambda number: "•"),
    "numbered items": lambda sheet: _items(sheet, lambda number: f"{number + 1}."),
    "numbered sections": lambda sheet: _items(sheet, lambda number: f"{1 + number // 4}.{number}"),
    "two addresses": lambda sheet: _addresses(sheet, 2),
    "three addresses": lambda sheet: _addresses(sheet, 3),
    "four addresses": lambda sheet: _addresses(sheet, 4),
    "chart": lambda sheet: _chart(sheet, bars=False),
    "bar chart": lambda sheet: _chart(sheet, bars=True),
    **{f"form: {name}": GENERIC[name] for name in _FORMS},
}
"""Families by name."""


def draw_plain(family: str, seed: int) -> Sheet:
    """Draw a page of a family (kind of layout). The same seed gives the same page."""
    sheet = Sheet(Random(f"{family} {seed}"))
    PLAIN[family](sheet)
    return sheet
