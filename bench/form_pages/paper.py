"""Paper and images of generated forms: a pattern below the text, and a small image enlarged."""

from __future__ import annotations

import io
import math
from collections.abc import Callable

from PIL import Image, ImageDraw

from bench.form_pages.sheet import HEIGHT, WIDTH, Sheet


def patterned(sheet: Sheet, draw: Callable[[Sheet], None]) -> None:
    """Draw a form on paper with pale waves, as on licences, passports and cheques."""
    paper = sheet.random.randint(205, 245)
    sheet.image.paste(paper, (0, 0, WIDTH, HEIGHT))
    pen, ink = ImageDraw.Draw(sheet.image), paper - sheet.random.randint(15, 60)
    step, height = sheet.random.randint(9, 26), sheet.random.randint(4, 30)
    length = sheet.random.uniform(25, 120)
    for y in range(-height, HEIGHT + height, step):
        wave = [(x, y + height * math.sin(x / length + y)) for x in range(0, WIDTH, 8)]
        pen.line(wave, fill=ink, width=sheet.random.choice((1, 2)))
    draw(sheet)


def enlarged(sheet: Sheet, draw: Callable[[Sheet], None]) -> None:
    """Draw a form as a small, compressed image that was enlarged again."""
    draw(sheet)
    share = sheet.random.uniform(0.5, 0.7)
    stream = io.BytesIO()
    small = sheet.image.resize((round(share * WIDTH), round(share * HEIGHT)))
    small.save(stream, "JPEG", quality=sheet.random.randint(55, 80))
    sheet.image = Image.open(stream).convert("L").resize((WIDTH, HEIGHT))
