"""Draws passports and identity cards with a machine-readable zone (ICAO Doc 9303, TD1 to TD3).

The same seed gives the same persons, documents and photographic faults. Zones are composed field by
field, as issuers compose them, without the product's code for reading zones.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

MILLIMETRES = {"TD1": (85.6, 112.0), "TD2": (105.0, 74.0), "TD3": (125.0, 88.0)}
"""Width and height; for a TD1 card, front and back one below the other."""
INCH = 25.4
NUMERALS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SURNAMES = (
    "ERIKSSON", "O'CONNOR", "SMITH-JONES", "VAN DER BERG", "LINDQVIST", "OKONKWO", "ZBOROWSKI",
    "QUISPE MAMANI", "FITZWILLIAM", "BIDDLE", "ISSA", "OSBOURNE", "XU", "DE LA CRUZ",
)  # fmt: skip
GIVEN = (
    "ANNA MARIA", "JOHN", "LI", "MARY-ANN", "OSCAR IGNATIUS", "ZOE", "SVEN", "BEATRIZ SOFIA",
    "KWAME", "ELEONORA", "TED", "PHILIPPA JANE", "BO", "GUSTAVO ADOLFO",
)  # fmt: skip
STATES = ("UTO", "USA", "GBR", "MEX", "SWE", "NGA", "POL", "IND", "CAN", "PHL")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


@dataclass(frozen=True)
class Person:
    """A person, and the data of an identity document of this person."""

    number: str
    surname: str
    given: str
    sex: str
    state: str
    born: date
    expires: date


@dataclass(frozen=True)
class DrawnDocument:
    """An image of a document, and its true values."""

    name: str
    form: str
    """TD1, TD2 or TD3."""
    content: bytes
    """A PNG file."""
    truth: Mapping[str, str]
    """True values by entity of the form's template."""
    zone: tuple[str, ...]


def draw_documents(
    form: str, count: int, font: Path, *, is_bare: bool = False, is_damaged: bool = False
) -> list[DrawnDocument]:
    """Draw documents of a format. Every second document looks badly photographed.

    Args:
        form: TD1, TD2 or TD3.
        count: number of documents.
        font: font file of the zone (OCR-B).
        is_bare: whether the document shows only the zone, which then contains all true values.
        is_damaged: whether one check digit of each zone is wrong.
    """
    found = []
    for number in range(count):
        rng = Random(f"{form} {number} {is_bare} {is_damaged}")
        person = make_person(rng)
        zone = compose(form, person)
        if is_damaged:
            zone = spoil(form, zone, rng)
        if is_bare:
            person = replace(person, surname=plain(person.surname), given=plain(person.given))
        image = draw(form, person if not is_bare else None, zone, font, rng)
        if number % 2:
            image = photograph(image, rng)
        stream = io.BytesIO()
        image.save(stream, "PNG")
        name = f"{form}-{number:02d}"
        found.append(DrawnDocument(name, form, stream.getvalue(), truth(form, person), zone))
    return found


def make_person(rng: Random) -> Person:
    """Invent a person and a document."""
    born = date(1936, 1, 1) + timedelta(days=rng.randrange(31_000))
    expires = date(2024, 6, 1) + timedelta(days=rng.randrange(3_600))
    letters = rng.choice((0, 0, 1, 2))
    number = "".join(rng.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=letters))
    number += "".join(rng.choices("0123456789", k=9 - letters))
    return Person(
        number,
        rng.choice(SURNAMES),
        rng.choice(GIVEN),
        rng.choice("MF"),
        rng.choice(STATES),
        born,
        expires,
    )


def digit(text: str) -> str:
    """Return the check digit of a text: weighted (7, 3, 1) sum modulo 10. Doc 9303, part 3, 4.9."""
    total = sum((7, 3, 1)[at % 3] * max(0, NUMERALS.find(letter)) for at, letter in enumerate(text))
    return str(total % 10)


def compose(form: str, person: Person) -> tuple[str, ...]:
    """Return the lines of the machine-readable zone of a person's document."""
    number = person.number.ljust(9, "<") + digit(person.number.ljust(9, "<"))
    born, expires = f"{person.born:%y%m%d}", f"{person.expires:%y%m%d}"
    born, expires = born + digit(born), expires + digit(expires)
    names = transliterated(person.surname) + "<<" + transliterated(person.given)
    if form == "TD1":
        upper = f"I<{person.state}{number}".ljust(30, "<")
        middle = f"{born}{person.sex}{expires}{person.state}".ljust(29, "<")
        whole = digit(upper[5:30] + middle[:7] + middle[8:15] + middle[18:29])
        return upper, middle + whole, names.ljust(30, "<")[:30]
    width = 44 if form == "TD3" else 36
    optional = "<<<<<<<<<<<<<<0" if form == "TD3" else "<<<<<<<"
    lower = f"{number}{person.state}{born}{person.sex}{expires}{optional}"
    whole = digit(lower[:10] + lower[13:20] + lower[21:])
    kind = "P<" if form == "TD3" else "I<"
    return f"{kind}{person.state}{names}".ljust(width, "<")[:width], lower + whole


def transliterated(name: str) -> str:
    """Write a name in the letters that zones allow."""
    return name.replace("'", "").replace("-", "<").replace(" ", "<")


def plain(name: str) -> str:
    """Return a name in the letters that zones allow, with spaces instead of fillers (`<`)."""
    return transliterated(name).replace("<", " ")


def spoil(form: str, zone: Sequence[str], rng: Random) -> tuple[str, ...]:
    """Make one check digit of a zone wrong: of the number, of a date, or of the whole zone."""
    row, places = {
        "TD1": (1, (6, 14, 29)),
        "TD2": (1, (9, 19, 27, 35)),
        "TD3": (1, (9, 19, 27, 43)),
    }[form]
    at = rng.choice(places)
    wrong = str((int(zone[row][at]) + rng.randrange(1, 10)) % 10)
    lines = list(zone)
    lines[row] = lines[row][:at] + wrong + lines[row][at + 1 :]
    return tuple(lines)


def truth(form: str, person: Person) -> dict[str, str]:
    """Return the true values of a document, by field of its form template."""
    if form == "TD1":
        return {
            "uscis_number": person.number,
            "surname": person.surname,
            "given_name": person.given,
            "date_of_birth": f"{person.born:%m/%d/%Y}",
            "sex": person.sex,
            "card_expires": f"{person.expires:%m/%d/%Y}",
        }
    return {
        "passport_number": person.number,
        "surname": person.surname,
        "given_names": person.given,
        "nationality": person.state,
        "date_of_birth": worded(person.born),
        "sex": person.sex,
        "date_of_expiration": worded(person.expires),
    }


def worded(day: date) -> str:
    """Write a date as passports show it."""
    return f"{day.day:02d} {MONTHS[day.month - 1]} {day.year}"


LABELS = {
    "passport_number": "Passport No.",
    "uscis_number": "USCIS#",
    "surname": "Surname",
    "given_names": "Given Names",
    "given_name": "Given Name",
    "nationality": "Nationality",
    "date_of_birth": "Date of birth",
    "sex": "Sex",
    "date_of_expiration": "Date of expiration",
    "card_expires": "Card Expires",
}


def draw(
    form: str, person: Person | None, zone: Sequence[str], font: Path, rng: Random
) -> Image.Image:
    """Draw a document without photographic faults; if `person` is None, draw only the zone."""
    dots = rng.uniform(170, 300) / INCH
    width, height = (round(side * dots) for side in MILLIMETRES[form])
    image = guilloche(width, height, rng)
    pen = ImageDraw.Draw(image)
    write_zone(pen, zone, font, dots, (width, height))
    if person is None:
        return image
    pen.rectangle((4 * dots, 12 * dots, 30 * dots, 42 * dots), fill=(150, 160, 170))
    label = ImageFont.load_default(size=round(1.9 * dots))
    value = ImageFont.load_default(size=round(2.9 * dots))
    pen.text((34 * dots, 2.5 * dots), "UTOPIA", fill=(40, 40, 90), font=value)
    columns = (34 * dots, 34 * dots + (width - 36 * dots) / 2)
    for at, (entity, text) in enumerate(truth(form, person).items()):
        x, y = columns[at % 2], (7.5 + 9.5 * (at // 2)) * dots
        pen.text((x, y), LABELS[entity], fill=(60, 60, 110), font=label)
        pen.text((x, y + 2.8 * dots), text, fill=(15, 15, 15), font=value)
    return image


def write_zone(
    pen: ImageDraw.ImageDraw, zone: Sequence[str], font: Path, dots: float, size: tuple[int, int]
) -> None:
    """Write the lines of a zone at the lower edge, with ten letters per inch."""
    trial = ImageFont.truetype(str(font), 1000)
    face = ImageFont.truetype(str(font), round(1000 * INCH / 10 * dots / trial.getlength("M")))
    pitch = INCH / 10 * dots
    left = (size[0] - pitch * len(zone[0])) / 2
    for row, text in enumerate(zone):
        y = size[1] - (5.5 + 5.6 * (len(zone) - 1 - row)) * dots
        for at, letter in enumerate(text):
            pen.text(
                (left + (at + 0.5) * pitch, y), letter, fill=(20, 20, 20), font=face, anchor="ms"
            )


def guilloche(width: int, height: int, rng: Random) -> Image.Image:
    """Draw the pale waves of security paper."""
    image = Image.new("RGB", (width, height), tuple(rng.randrange(228, 250) for _ in range(3)))
    pen = ImageDraw.Draw(image)
    for wave in range(0, height, max(6, height // 60)):
        tint = tuple(rng.randrange(205, 235) for _ in range(3))
        swing, length = rng.uniform(2, 9), rng.uniform(40, 140)
        points = [(x, wave + swing * np.sin(x / length)) for x in range(0, width + 8, 8)]
        pen.line(points, fill=tint, width=1)
    return image


def photograph(image: Image.Image, rng: Random) -> Image.Image:
    """Make a document look photographed on a table: perspective, shadow, blur, noise."""
    width, height = image.size
    margin = round(0.08 * width)
    table = (rng.randrange(90, 150), rng.randrange(80, 130), rng.randrange(70, 120))
    size = (width + 2 * margin, height + 2 * margin)
    # Corners of the photograph, in coordinates of the document; what is outside of it is table.
    corners = [
        (-margin, -margin),
        (-margin, size[1] - margin),
        (size[0] - margin, size[1] - margin),
        (size[0] - margin, -margin),
    ]
    drift = 0.045 * width
    moved = [(x + rng.uniform(-drift, drift), y + rng.uniform(-drift, drift)) for x, y in corners]
    flat = tuple(part for point in moved for part in point)
    canvas = Image.new("RGB", size, table)
    canvas.paste(image, (margin, margin))
    source = perspective(
        [(x + margin, y + margin) for x, y in zip(flat[::2], flat[1::2], strict=True)], size
    )
    canvas = canvas.transform(
        size, Image.Transform.PERSPECTIVE, source, Image.Resampling.BICUBIC, fillcolor=table
    )
    pixels = np.asarray(canvas).astype(np.float32)
    slope = rng.uniform(-0.35, 0.35)
    across = np.linspace(-1, 1, size[0], dtype=np.float32)
    down = np.linspace(-1, 1, size[1], dtype=np.float32)[:, None]
    edge = rng.uniform(-0.4, 0.4)
    shadow = np.where(
        across[None, :] + slope * down > edge, np.float32(rng.uniform(0.55, 0.75)), np.float32(1)
    )
    pixels *= shadow[:, :, None]
    noise = np.random.default_rng(rng.randrange(2**32)).normal(0, 4, pixels.shape)
    shaken = Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))
    return shaken.filter(ImageFilter.GaussianBlur(rng.uniform(0.6, 1.4) * width / 1200))


def perspective(source: Sequence[tuple[float, float]], size: tuple[int, int]) -> tuple[float, ...]:
    """Return the eight coefficients of the projection that maps an image's corners to `source`."""
    width, height = size
    target = ((0, 0), (0, height), (width, height), (width, 0))
    rows, values = [], []
    for (x, y), (u, v) in zip(target, source, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        values += [u, v]
    return tuple(np.linalg.solve(np.array(rows, float), np.array(values, float)))
