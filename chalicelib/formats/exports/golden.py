"""Sample inputs (golden inputs) for testing exported models. They contain no data of users."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

_SENTENCE = "The meeting was moved to Friday, and the report is due on Monday morning. "
# Short, long, empty and odd texts of several languages.
_TEXTS = (
    "Where is my parcel?",
    "I would like to change the address of my order before it ships.",
    "Thank you, this was really helpful!",
    "This is the third time that it broke, and the phone is never answered.",
    "Wie kann ich mein Passwort zurücksetzen?",
    "¿Cuándo llega mi pedido?",
    "請問營業時間是幾點？",
    "🙂🙂",
    "",
    "x",
    "2026-11-28 17:45, gate B12",
    _SENTENCE * 4,
    _SENTENCE * 40,
)
MOST_LABELS = 20


def golden_texts(labels: Sequence[str]) -> list[str]:
    """Return sample texts. They include the label names, so that different labels are predicted."""
    return [*_TEXTS, *labels[:MOST_LABELS]]


def golden_pictures() -> Iterator[tuple[str, bytes]]:
    """Yield file names and contents of sample images: shapes, a gradient and noise."""
    import numpy as np
    from PIL import Image, ImageDraw

    shapes = Image.new("RGB", (640, 480), (230, 228, 220))
    draw = ImageDraw.Draw(shapes)
    draw.ellipse((60, 80, 260, 280), fill=(200, 40, 30))
    draw.rectangle((330, 150, 560, 400), fill=(30, 90, 180))
    draw.polygon(((120, 450), (220, 310), (310, 450)), fill=(40, 150, 60))
    rows, columns = np.mgrid[0:211, 0:97]
    gradient = np.stack([rows, columns, (rows * columns) % 256], axis=2).astype(np.uint8)
    noise = np.random.default_rng(0).integers(0, 256, (240, 320, 3), np.uint8)
    for name, picture, kind in (
        ("shapes.jpg", shapes, "JPEG"),
        ("shapes.png", shapes, "PNG"),
        ("gradient.png", Image.fromarray(gradient), "PNG"),
        ("noise.jpg", Image.fromarray(noise), "JPEG"),
    ):
        stream = io.BytesIO()
        picture.save(stream, kind)
        yield name, stream.getvalue()
