"""The invented invoice of the guide, drawn with the font that ships with Pillow."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

HEAD = ("Fernhill Garden Supplies", "12 Orchard Road, Millbrook, OR 97301", "(503) 555-0188")
FIELDS = {"Invoice No.": "2026-0417", "Invoice Date": "04/17/2026"}
ITEMS = (
    ("Item", "Quantity", "Unit price", "Amount"),
    ("Watering can", "2", "14.50", "29.00"),
    ("Seed potatoes", "10", "1.20", "12.00"),
    ("Garden gloves", "3", "6.00", "18.00"),
)
TOTAL = ("Total due", "$59.00")
WIDTH, HEIGHT, LEFT, RIGHT = 1000, 900, 80, 920
COLUMNS = (80, 440, 600, 760, 920)


def draw_invoice() -> bytes:
    """Draw the invoice as PNG."""
    image = Image.new("L", (WIDTH, HEIGHT), 255)
    pen = ImageDraw.Draw(image)

    def write(x: float, y: float, text: str, size: int = 24, anchor: str = "la") -> None:
        pen.text((x, y), text, 20, ImageFont.load_default(size), anchor=anchor)

    write(LEFT, 60, HEAD[0], 38)
    for number, line in enumerate(HEAD[1:]):
        write(LEFT, 120 + 34 * number, line)
    for number, (key, value) in enumerate(FIELDS.items()):
        write(LEFT, 260 + 44 * number, f"{key}:")
        write(LEFT + 220, 260 + 44 * number, value)
    for row, cells in enumerate(ITEMS):
        top = 400 + 56 * row
        for column, text in enumerate(cells):
            left, right = COLUMNS[column], COLUMNS[column + 1]
            fill = 225 if row == 0 else 255
            pen.rectangle((left, top, right, top + 56), fill=fill, outline=60, width=2)
            write(*((left + 14, top + 14) if column == 0 else (right - 14, top + 14)), text, 24,
                  "la" if column == 0 else "ra")  # fmt: skip
    write(COLUMNS[2], 680, f"{TOTAL[0]}:", 28)
    write(RIGHT - 14, 680, TOTAL[1], 28, "ra")
    write(LEFT, 780, "Please pay within 30 days. Thank you for your order.")
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()
