"""Pages of text that tests draw: lines, tables and forms, with a font that Pillow brings along.

paper(["Invoice 17", "Total: 42.50"])   a picture of two lines
grid([["Item", "Price"], ["Pen", "2.50"]])   a ruled table
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

SIZE = 24
"""Height of letters, in pixels, roughly."""
MARGIN = 30
"""White around everything, in pixels."""


def paper(lines: Sequence[str], size: int = SIZE) -> Image.Image:
    """Draw lines of text on white, one below the other."""
    font = ImageFont.load_default(size)
    step = round(size * 1.6)
    width = max([int(font.getlength(line)) for line in lines] or [1]) + 2 * MARGIN
    image = Image.new("RGB", (width, step * len(lines) + 2 * MARGIN), "white")
    pen = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        pen.text((MARGIN, MARGIN + number * step), line, "black", font)
    return image


def grid(rows: Sequence[Sequence[str]], size: int = SIZE, width: int = 200) -> Image.Image:
    """Draw a table whose cells are ruled."""
    height = 2 * size
    wide, high = width * len(rows[0]), height * len(rows)
    image = Image.new("RGB", (wide + 2 * MARGIN, high + 2 * MARGIN), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    for row, texts in enumerate(rows):
        for column, text in enumerate(texts):
            left, top = MARGIN + column * width, MARGIN + row * height
            pen.rectangle((left, top, left + width, top + height), outline="black", width=2)
            pen.text((left + 12, top + size // 2), text, "black", font)
    return image


_STROKES = {
    "А": "0420 2044 1333", "Д": "0535 0415 1420 2044 4435", "Ж": "0044 0440 2024",
    "И": "0004 0440 4044", "Ш": "0004 0444 4440 2420", "Ф": "2024 0141 4143 4303 0301",
    "Ц": "0004 0444 4440 4445", "Ω": "0414 1402 0210 1030 3042 4234 3444",
    "Σ": "4000 0022 2204 0444", "Λ": "0420 2044",
    "Ξ": "0040 1232 0444", "Ψ": "0002 0242 4240 2024", "Δ": "0420 2044 0444", "Π": "0400 0040 4044",
    "市": "2021 0141 2124 1213 1232 3233", "田": "0040 4044 4404 0400 2024 0242",
    "中": "0131 3133 3303 0301 2025", "木": "0141 2024 2104 2144",
}  # fmt: skip
"""Letters of other alphabets: lines between two points each, x and y from 0 to 5."""


def accented_paper(line: str, accents: str, size: int = 30) -> Image.Image:
    """Draw a line whose letters have accents: "'", ":" or none for each letter."""
    image, font = paper([line], size), ImageFont.load_default(size)
    pen, unit = ImageDraw.Draw(image), size / 10
    for number, accent in enumerate(accents):
        ends = font.getlength(line[:number]), font.getlength(line[: number + 1])
        x, y = MARGIN + sum(ends) / 2, MARGIN + 2 * unit
        if accent == "'":
            pen.line((x - unit / 2, y + unit, x + unit, y - unit), "black", 3)
        elif accent == ":":
            for middle in (x - 1.2 * unit, x + 1.2 * unit):
                pen.ellipse((middle - 2, y - 2, middle + 2, y + 2), "black")
    return image


def foreign_paper(lines: Sequence[str], size: int = 32) -> Image.Image:
    """Draw lines of the letters above, which the font of Pillow does not have."""
    unit, step = size / 5, round(size * 1.2)
    width = step * max(map(len, lines)) + 2 * MARGIN
    image = Image.new("RGB", (width, 2 * size * len(lines) + 2 * MARGIN), "white")
    pen = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            left, top = MARGIN + column * step, MARGIN + row * 2 * size
            for x, y, end_x, end_y in _STROKES.get(letter, "").split():
                ends = (left + int(x) * unit, top + int(y) * unit)
                ends += (left + int(end_x) * unit, top + int(end_y) * unit)
                pen.line(ends, "black", max(2, size // 10))
    return image
