"""Forms drawn with Pillow, with the lines that an engine would read."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from chalicelib.domain.documents.form_template import FormTemplate, TemplateKey
from chalicelib.domain.documents.page import Page, ReadPage, Rect, TextLine, around_points

WIDTH, HEIGHT = 1240, 900
PADDING = 3
"""Pixels by which an engine's boxes are larger than the ink."""


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font."""
    return ImageFont.load_default(size=size)


@cache
def _places(text: str, size: int) -> tuple[float, ...]:
    """Return the centre of each character along a line; cached, since forms repeat keys."""
    ends = [_font(size).getlength(text[:at]) for at in range(len(text) + 1)]
    return tuple((start + end) / 2 / ends[-1] for start, end in pairwise(ends))


@dataclass
class DrawnForm:
    """A page under construction."""

    image: Image.Image = field(default_factory=lambda: Image.new("L", (WIDTH, HEIGHT), 255))
    lines: list[TextLine] = field(default_factory=list)
    keys: list[TemplateKey] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)

    def write(self, x: float, y: float, text: str, size: int = 20) -> Rect:
        """Write a text as one line; return its box."""
        draw = ImageDraw.Draw(self.image)
        draw.text((x, y), text, fill=0, font=_font(size))
        left, top, right, bottom = draw.textbbox((x, y), text, font=_font(size))
        box = Rect(left - PADDING, top - PADDING, right + PADDING, bottom + PADDING)
        shown = " ".join(text.replace("_", " ").split())
        if shown:
            self.lines.append(TextLine(shown, 0.99, box, None, _places(shown, size)))
        return box

    def width(self, text: str, size: int = 20) -> float:
        """Return the width of a text in pixels."""
        return _font(size).getlength(text)

    def rule(self, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw a line."""
        ImageDraw.Draw(self.image).line((x, y, end_x, end_y), fill=0, width=2)

    def box(self, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw a frame."""
        ImageDraw.Draw(self.image).rectangle((x, y, end_x, end_y), outline=0, width=2)

    def expect(
        self, entity: str, value: str, *variations: str, types: tuple[str, ...] = ()
    ) -> None:
        """Add a key to the template with its expected value."""
        self.keys.append(TemplateKey(entity, variations, types))
        self.values[entity] = value

    @property
    def template(self) -> FormTemplate:
        """The template with the keys expected so far."""
        return FormTemplate(tuple(self.keys))

    def read(self, degrees: float = 0.0, has_pixels: bool = True) -> ReadPage:
        """Return the page as read, rotated clockwise about its centre."""
        image = self.image.rotate(-degrees, fillcolor=255) if degrees else self.image
        pixels = np.asarray(image.convert("RGB")) if has_pixels else None
        lines = tuple(_turned(line, degrees) if degrees else line for line in self.lines)
        return ReadPage(Page(1, WIDTH, HEIGHT, 1.0), 0, pixels, lines)


def _turned(line: TextLine, degrees: float) -> TextLine:
    """Rotate a line clockwise about the centre of the page."""
    angle = math.radians(degrees)
    cosine, sine = math.cos(angle), math.sin(angle)

    def turn(x: float, y: float) -> tuple[float, float]:
        x, y = x - WIDTH / 2, y - HEIGHT / 2
        return x * cosine - y * sine + WIDTH / 2, x * sine + y * cosine + HEIGHT / 2

    quad = tuple(turn(x, y) for x, y in line.corners)
    return replace(line, box=around_points(quad), quad=quad)


NAMES = ("Ana Torres", "Peter O'Neil", "Wei Zhang", "Mary Ann Keller", "John Q. Public")
STREETS = ("12 Elm Street", "4500 Lake View Rd Apt 7", "88 N Main St", "7 Orchard Court")
CITIES = (("Phoenix", "AZ", "85001"), ("Dayton", "OH", "45402"), ("Salem", "OR", "97301"))
JOBS = ("Carpenter", "Data entry clerk", "Nurse practitioner", "Bus driver")


@dataclass(frozen=True)
class Facts:
    """What people write into forms."""

    name: str
    street: str
    city: str
    date: str
    birth: str
    phone: str
    mail: str
    amount: str
    number: str
    job: str


def make_facts(seed: int) -> Facts:
    """Generate a person's data."""
    chance = random.Random(seed)

    def digits(count: int) -> str:
        return "".join(chance.choice("0123456789") for _ in range(count))

    city, state, code = chance.choice(CITIES)
    name = chance.choice(NAMES)
    months = ("January", "May", "October")
    return Facts(
        name=name,
        street=chance.choice(STREETS),
        city=f"{city}, {state} {code}",
        date=f"{chance.choice(months)} {chance.randint(1, 28)}, 20{digits(2)}",
        birth=f"{chance.randint(1, 12):02}/{chance.randint(1, 28):02}/19{digits(2)}",
        phone=f"({chance.randint(200, 989)}) 555-0{digits(3)}",
        mail=f"{name.split()[0].lower()}{digits(2)}@example.org",
        amount=f"${chance.randint(1, 9)},{digits(3)}.{digits(2)}",
        number=f"{chance.choice('ABCD')}{chance.choice('KLMN')}-{digits(6)}",
        job=chance.choice(JOBS),
    )
