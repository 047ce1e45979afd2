"""Draws invoices, each with a letterhead, a table of known items, totals and terms.

Pages are PDFs with text. They can be read from their text layer, or rendered and read as images.
The positions of texts come from column widths and measured fonts, as in a word processor.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from random import Random

from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextPath

from bench.ocr_table_data import Cells
from bench.ocr_table_metrics import GridText

ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12)
"""Number of items of each of the ten invoices of a set."""
RULED = ("grid", "rows", "open", "box", "head")
"""Ways to rule a table: every cell, rows, rows without outer sides, columns, only the header."""
PLAIN = ("none", "shaded")
"""Ways without rules: nothing, or a coloured header."""
_FAMILIES = ("DejaVu Sans", "DejaVu Serif", "STIXGeneral")
_PAGES = ((595, 842), (612, 792))
_GOODS = (
    "Desk lamp, brass", "Oak shelf 80 cm", "Delivery to the third floor", "Website maintenance",
    "Consulting in March", "Paper A4, 500 sheets", "Ink cartridge, black", "Office chair",
    "Licence, one year", "Cleaning of windows", "Steel bolts M8", "Annual inspection",
)  # fmt: skip
_MORE = (
    "including mounting and all small parts", "as agreed by telephone with Ms. Winslow",
    "with a guarantee of two years on all moving parts", "black, with armrests and wheels",
    "second floor of the building at Quillmoor Road", "for up to five users at two places",
)  # fmt: skip
_HEADS = {
    "code": ("Item", "Code", "Art. No.", "SKU"),
    "line": ("#", "Pos.", "No."),
    "text": ("Description", "Service", "Product", "Details"),
    "count": ("Qty", "Quantity", "Hours", "Units"),
    "price": ("Unit price", "Price", "Rate", "Unit cost"),
    "tax": ("Tax", "VAT", "Discount"),
    "sum": ("Amount", "Total", "Line total"),
}
_ORDERS = (
    ("line", "text", "count", "price", "sum"),
    ("code", "text", "count", "price", "sum"),
    ("count", "code", "text", "price", "sum"),
    ("text", "count", "price", "tax", "sum"),
)
_WIDTHS = {"line": 5, "code": 9, "count": 8, "price": 11, "tax": 9, "sum": 13}
"""Column widths in hundredths of the table's width; the description gets the rest."""


@dataclass(frozen=True, slots=True)
class Invoice:
    """A page with a single table, and the true cells of this table."""

    name: str
    content: bytes
    """A PDF of one page."""
    cells: Cells
    """Header and items."""


def draw_invoices(ways: Sequence[str]) -> Iterator[Invoice]:
    """Draw ten invoices of 1 to 12 items.

    Args:
        ways: ways to draw the lines of a table. Each invoice uses the next way, in rotation.
    """
    for number, rows in enumerate(ROWS):
        page = _Invoice(Random(number), ways[number % len(ways)])
        content, cells = page.draw(rows)
        yield Invoice(f"invoice-{page.way}-{number}", content, cells)


class _Invoice:
    """An invoice that is being drawn. Coordinates are points from the top left."""

    def __init__(self, rng: Random, way: str) -> None:
        self._rng = rng
        self.way = way
        self._width, self._height = rng.choice(_PAGES)
        self._family = rng.choice(_FAMILIES)
        self._size = rng.choice((8.5, 9, 10, 10.5))
        self._left = rng.uniform(36, 64)
        self._right = self._width - self._left
        self._pitch = rng.uniform(1.15, 1.35) * self._size
        self._figure = Figure((self._width / 72, self._height / 72))

    def draw(self, rows: int) -> tuple[bytes, Cells]:
        """Draw a page with `rows` items; return the page, and the cells of its table."""
        y = self._letterhead()
        columns = self._rng.choice(_ORDERS)
        texts = [[self._rng.choice(_HEADS[column]) for column in columns]]
        texts += [[self._value(column, row) for column in columns] for row in range(1, rows + 1)]
        bottom = self._table(columns, texts, y)
        self._totals(bottom + self._rng.uniform(2.4, 3.4) * self._size)
        self._terms()
        stream = io.BytesIO()
        with PdfPages(stream, metadata={"CreationDate": None}) as pages:
            pages.savefig(self._figure)
        cells = (
            GridText(row, column, text, is_head=row == 0)
            for row, line in enumerate(texts)
            for column, text in enumerate(line)
        )
        return stream.getvalue(), tuple(cells)

    def _value(self, column: str, row: int) -> str:
        """Invent the value of an item in a column."""
        rng = self._rng
        if column == "text":
            more = rng.sample(_MORE, rng.choice((0, 0, 0, 1, 1, 2)))
            return " ".join([rng.choice(_GOODS), *more])
        return {
            "line": str(row),
            "code": f"{rng.choice('ABKRT')}{rng.choice('DLMS')}-{rng.randint(100, 999)}",
            "count": str(rng.choice((1, 2, 3, 5, 8, 12, 40, 100))),
            "price": f"{rng.uniform(2, 300):.2f}",
            "tax": rng.choice(("0%", "7%", "19%", "5.5%")),
            "sum": f"{rng.choice(('', '$'))}{rng.uniform(10, 9000):,.2f}",
        }[column]

    def _letterhead(self) -> float:
        """Draw sender, title, receiver and data of the invoice; return the y below them."""
        rng, left, right, pitch = self._rng, self._left, self._right, self._pitch
        y = rng.uniform(40, 60)
        self._write(left, y, "Quillmoor Supplies Ltd", size=self._size + 5, is_bold=True)
        self._write(right, y, rng.choice(("INVOICE", "Invoice")), "right", self._size + 9)
        for line in ("14 Harbour Street", "Port Alder, OR 97015", "+1 555 0143"):
            y += pitch
            self._write(left, y + 8, line)
        y += rng.uniform(2.5, 4) * pitch
        facts = [("Invoice No.", f"2024-{rng.randint(100, 999)}"), ("Date", "03/14/2024")]
        facts += [("Due date", "04/13/2024")] * rng.choice((0, 1))
        receiver = ("Bill to", "Ada Winslow", "7 Mill Lane", "Ferndale, WA 98248")
        place = right - rng.uniform(120, 170)
        colon = rng.choice((":", ""))
        for number, line in enumerate(receiver):
            self._write(left, y, line, is_bold=number == 0)
            if number < len(facts):
                self._write(place, y, facts[number][0] + colon)
                self._write(right, y, facts[number][1], "right")
            y += pitch
        return y + rng.uniform(1.5, 3.5) * pitch

    def _table(self, columns: Sequence[str], texts: Sequence[Sequence[str]], y: float) -> float:
        """Draw the header and the items of the table; return the y below them."""
        whole = self._right - self._left
        widths = [
            max(_WIDTHS[column] * whole / 100, self._length(head, "bold") + 12)
            if column in _WIDTHS
            else 0
            for column, head in zip(columns, texts[0], strict=True)
        ]
        widths[columns.index("text")] = whole - sum(widths)
        edges = list(accumulate(widths, initial=self._left))
        room = self._rng.uniform(0.5, 1.0) * self._size
        tops = [y]
        for number, row in enumerate(texts):
            lines = [
                self._wrapped(text, right - left - 10)
                for text, (left, right) in zip(row, pairwise(edges), strict=True)
            ]
            depth = max(map(len, lines)) * self._pitch + room
            if number == 0 and self.way == "shaded":
                self._fill(edges[0], tops[-1], edges[-1], tops[-1] + depth)
            for column, stack, (left, right) in zip(columns, lines, pairwise(edges), strict=True):
                is_left = column in ("line", "code", "text")
                x, align = (left + 5, "left") if is_left else (right - 5, "right")
                for at, line in enumerate(stack):
                    base = tops[-1] + room / 2 + (at + 0.8) * self._pitch
                    self._write(x, base, line, align, is_bold=number == 0)
            tops.append(tops[-1] + depth)
        self._rule(edges, tops)
        return tops[-1]

    def _wrapped(self, text: str, width: float) -> list[str]:
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self._length(longer) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def _length(self, text: str, weight: str = "normal") -> float:
        """Return the width of a text, in points."""
        font = FontProperties(family=self._family, weight=weight)
        path = TextPath((0, 0), text, size=self._size, prop=font)
        return float(path.get_extents().width)

    def _rule(self, edges: Sequence[float], tops: Sequence[float]) -> None:
        """Draw the lines of a table."""
        first, last = edges[0], edges[-1]
        heights = {"none": (), "shaded": (), "head": (tops[1], tops[-1])}.get(self.way, tops)
        if self.way == "box":
            heights = (tops[0], tops[1], tops[-1])
        if self.way == "open":
            heights = tops[1:]
        for y in heights:
            self._line(first, y, last, y)
        for x in edges if self.way in ("grid", "box") else ():
            self._line(x, tops[0], x, tops[-1])
        for x in (first, last) if self.way == "rows" else ():
            self._line(x, tops[0], x, tops[-1])

    def _totals(self, y: float) -> None:
        place = self._right - self._rng.uniform(110, 150)
        for name in ("Subtotal", "Tax (8%)", "Total due"):
            self._write(place, y, name, is_bold=name == "Total due")
            self._write(self._right - 5, y, f"${self._rng.uniform(20, 9000):,.2f}", "right")
            y += 1.5 * self._pitch

    def _terms(self) -> None:
        y = self._height - 70
        for line in (
            "Please pay within 30 days to the account below and quote the invoice number.",
            "Alder Savings Bank, account 4411 2093 7700",
            "Thank you for your order!",
        ):
            self._write(self._left, y, line, size=self._size - 1)
            y += self._pitch

    def _write(
        self,
        x: float,
        y: float,
        text: str,
        align: str = "left",
        size: float | None = None,
        *,
        is_bold: bool = False,
    ) -> None:
        """Write a line on its baseline."""
        self._figure.text(
            x / self._width,
            1 - y / self._height,
            text.replace("$", r"\$"),
            ha=align,
            va="baseline",
            family=self._family,
            size=size or self._size,
            weight="bold" if is_bold else "normal",
        )

    def _line(self, *ends: float) -> None:
        xs = [end / self._width for end in ends[::2]]
        ys = [1 - end / self._height for end in ends[1::2]]
        self._figure.add_artist(Line2D(xs, ys, color="0.25", linewidth=0.7))

    def _fill(self, left: float, top: float, right: float, bottom: float) -> None:
        """Fill a rectangle with the colour of the table header."""
        corner = left / self._width, 1 - bottom / self._height
        size = (right - left) / self._width, (bottom - top) / self._height
        self._figure.add_artist(Rectangle(corner, *size, color="0.85", zorder=0))
