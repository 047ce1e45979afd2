"""Draws invoices of invented issuers, from which templates are learned.

Each issuer has its own layout: its invoices have the same captions, at the same positions relative
to the values. Values and lengths of tables differ. True values are written as a person writes them
down: dates as 2024-03-05, amounts without thousands separators, addresses on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from random import Random

from tests.pdfs import Sheet, pdf, words

WIDTH, HEIGHT = 595, 842
_NARROW, _WIDE = frozenset(" .,:;'iIjl|-()/"), frozenset("MWmw@%")
_PEOPLE = (
    "Ana Torres",
    "Peter O'Neil",
    "Wei Zhang",
    "Mary Ann Keller",
    "Jonas Brandt",
    "Lucie Morel",
)
_FIRMS = (
    "Harbour Mills",
    "North Quay Ltd",
    "Fern & Sons",
    "Alder Works",
    "Brightwell",
    "Tarn House",
)
_STREETS = ("12 Elm Street", "4500 Lake View Rd", "88 N Main St", "7 Orchard Court", "31 Quay Road")
_TOWNS = ("Phoenix, AZ 85001", "Dayton, OH 45402", "Salem, OR 97301", "Ithaca, NY 14850")
_GOODS = ("Desk lamp", "Oak shelf", "Paper A4", "Office chair", "Steel bolts", "Annual inspection")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True)
class IssuedInvoice:
    """An invoice, with its true values."""

    name: str
    content: bytes
    """A PDF of one page with a text layer."""
    values: Mapping[str, str]
    """The value of each entity as a person writes it down."""


@dataclass
class _Facts:
    """The data that an invoice shows."""

    rng: Random
    day: date = field(init=False)
    due: date = field(init=False)
    person: str = field(init=False)
    firm: str = field(init=False)
    address: tuple[str, str] = field(init=False)
    items: list[tuple[str, int, float]] = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng
        self.day = date(2024, 1, 1) + timedelta(days=rng.randrange(700))
        self.due = self.day + timedelta(days=rng.choice((14, 30, 45)))
        self.person, self.firm = rng.choice(_PEOPLE), rng.choice(_FIRMS)
        self.address = rng.choice(_STREETS), rng.choice(_TOWNS)
        self.items = [
            (rng.choice(_GOODS), rng.randint(1, 9), round(rng.uniform(3, 900), 2))
            for _ in range(rng.randint(1, 7))
        ]

    @property
    def net(self) -> float:
        return round(sum(count * price for _, count, price in self.items), 2)


@dataclass(frozen=True)
class Issuer:
    """An issuer and the layout of its invoices."""

    name: str
    head: str
    """Layout of the invoice's data: one of _HEADS."""
    totals: str
    """Layout of the sums: one of _TOTALS."""
    captions: Mapping[str, str]
    """Caption of each entity; entities without a caption are not on the invoices."""
    date_format: Callable[[date], str] = lambda day: f"{day:%m/%d/%Y}"
    amount: Callable[[float], str] = lambda value: f"${value:,.2f}"
    number: str = "INV-{}"
    left: float = 50
    size: float = 10
    colon: str = ":"

    def invoice(self, seed: int) -> IssuedInvoice:
        """Draw one invoice."""
        facts = _Facts(Random(f"{self.name} {seed}"))
        printed, values = self._values(facts, seed)
        sheet = _Drawing(self)
        sheet.text(self.left, 52, f"{self.name} Trading", self.size + 6)
        sheet.text(self.left, 68, "Unit 5, Canal Yard, Portsmouth")
        sheet.right(WIDTH - self.left, 56, self.captions.get("title", "INVOICE"), self.size + 8)
        bottom = _HEADS[self.head](sheet, self, printed)
        bottom = sheet.items(facts.items, bottom + 34)
        sums = {name: text for name, text in printed.items() if name in _SUMS}
        _TOTALS[self.totals](sheet, self, sums, bottom + 26)
        sheet.text(self.left, 800, "Thank you for your business. Please pay on time.", 8)
        name = f"{self.name.lower().replace(' ', '-')}-{seed}.pdf"
        return IssuedInvoice(name, pdf([Sheet(sheet.content)]), values)

    def _values(self, facts: _Facts, seed: int) -> tuple[dict[str, str], dict[str, str]]:
        """Return two mappings: the values as printed, and the values as a person writes them."""
        rng, net = facts.rng, facts.net
        tax = round(net * 0.19, 2)
        number = self.number.format(rng.randint(1000, 99999) + seed)
        order = f"{rng.choice('ABKR')}{rng.randint(100, 999)}-{rng.randint(10, 99)}"
        mail = f"{facts.person.split()[0].lower()}@example.org"
        plain = {"number": number, "order": order, "customer": facts.person, "mail": mail}
        printed = {
            **plain,
            "date": self.date_format(facts.day),
            "due": self.date_format(facts.due),
            "address": "\n".join(facts.address),
            "net": self.amount(net),
            "tax": self.amount(tax),
            "total": self.amount(net + tax),
        }
        written = {
            **plain,
            "date": f"{facts.day:%Y-%m-%d}",
            "due": f"{facts.due:%Y-%m-%d}",
            "address": ", ".join(facts.address),
            "net": f"{net:.2f}",
            "tax": f"{tax:.2f}",
            "total": f"{net + tax:.2f}",
        }
        known = [name for name in self.captions if name in printed]
        return {n: printed[n] for n in known}, {n: written[n] for n in known}


_SUMS = ("net", "tax", "total")


class _Drawing:
    """A page that is being drawn. Coordinates are points from the top left."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer = issuer
        self.content = b""
        self.size = issuer.size
        self.pitch = 1.5 * issuer.size

    def text(self, x: float, y: float, text: str, size: float | None = None) -> None:
        """Write a text that begins at a point."""
        self.content += words(text, round(x, 2), round(HEIGHT - y, 2), size or self.size)

    def right(self, x: float, y: float, text: str, size: float | None = None) -> None:
        """Write a text that ends at a point."""
        self.text(x - length(text, size or self.size), y, text, size)

    def rule(self, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw a thin line."""
        self.content += (
            f"0.6 w {x:.1f} {HEIGHT - y:.1f} m {end_x:.1f} {HEIGHT - end_y:.1f} l S\n".encode()
        )

    def box(self, x: float, y: float, end_x: float, end_y: float) -> None:
        """Draw a frame."""
        for start, end in (
            ((x, y), (end_x, y)),
            ((x, end_y), (end_x, end_y)),
            ((x, y), (x, end_y)),
            ((end_x, y), (end_x, end_y)),
        ):
            self.rule(*start, *end)

    def items(self, items: Sequence[tuple[str, int, float]], y: float) -> float:
        """Draw the table of items; return the y of its last row."""
        left, right = self._issuer.left, WIDTH - self._issuer.left
        self.text(left, y, "Description")
        self.right(left + 300, y, "Qty")
        self.right(left + 390, y, "Price")
        self.right(right, y, "Amount")
        self.rule(left, y + 4, right, y + 4)
        for name, count, price in items:
            y += self.pitch + 2
            self.text(left, y, name)
            self.right(left + 300, y, str(count))
            self.right(left + 390, y, f"{price:.2f}")
            self.right(right, y, f"{count * price:.2f}")
        return y


def length(text: str, size: float) -> float:
    """Return the approximate width of a text in the font Helvetica, in points."""
    shares = (
        0.28 if c in _NARROW else 0.84 if c in _WIDE else 0.64 if c.isupper() else 0.55
        for c in text
    )
    return size * sum(shares)


def _others(printed: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, text) for name, text in printed.items() if name not in _SUMS]


def _lines(sheet: _Drawing, issuer: Issuer, printed: Mapping[str, str]) -> float:
    """On each line, write a caption and its value as one text; return the y below the lines."""
    y = 110.0
    for name, text in _others(printed):
        parts = text.split("\n")
        sheet.text(issuer.left, y, f"{issuer.captions[name]}{issuer.colon} {parts[0]}")
        indent = length(f"{issuer.captions[name]}{issuer.colon} ", sheet.size)
        for part in parts[1:]:
            y += sheet.pitch * 0.8
            sheet.text(issuer.left + indent, y, part)
        y += sheet.pitch
    return y


def _columns(sheet: _Drawing, issuer: Issuer, printed: Mapping[str, str]) -> float:
    """Write captions in one column and values in another."""
    y = 120.0
    wide = max(length(issuer.captions[name], sheet.size) for name in printed)
    for name, text in _others(printed):
        sheet.text(issuer.left, y, issuer.captions[name] + issuer.colon)
        for part in text.split("\n"):
            sheet.text(issuer.left + wide + 34, y, part)
            y += sheet.pitch * 0.8
        y += sheet.pitch * 0.4
    return y


def _right_block(sheet: _Drawing, issuer: Issuer, printed: Mapping[str, str]) -> float:
    """Write the receiver at the left margin, and the data of the invoice at the right margin."""
    y, party = 130.0, [name for name in ("customer", "address", "mail") if name in printed]
    at = y
    for name in party:
        sheet.text(issuer.left, at, issuer.captions[name] + issuer.colon)
        for part in printed[name].split("\n"):
            at += sheet.pitch * 0.85
            sheet.text(issuer.left, at, part)
        at += sheet.pitch * 1.3
    for name, text in _others(printed):
        if name not in party:
            sheet.text(345, y, issuer.captions[name] + issuer.colon)
            sheet.right(WIDTH - issuer.left, y, text)
            y += sheet.pitch
    return max(at, y)


def _boxes(sheet: _Drawing, issuer: Issuer, printed: Mapping[str, str]) -> float:
    """Draw a framed box for each field, with a small caption at the top and the value below it."""
    x, y, wide, high = issuer.left, 100.0, (WIDTH - 2 * issuer.left) / 3, 46.0
    for number, (name, text) in enumerate(_others(printed)):
        left, top = x + number % 3 * wide, y + number // 3 * high
        sheet.box(left, top, left + wide, top + high)
        sheet.text(left + 4, top + 10, issuer.captions[name], 7)
        for row, part in enumerate(text.split("\n")):
            sheet.text(left + 4, top + 24 + row * 12, part)
    return y + (len(_others(printed)) + 2) // 3 * high


def _header_rows(sheet: _Drawing, issuer: Issuer, printed: Mapping[str, str]) -> float:
    """Write rows of captions, each followed by a row with the values of these captions."""
    y, wide = 115.0, (WIDTH - 2 * issuer.left) / 3
    for first in range(0, len(_others(printed)), 3):
        for column, (name, text) in enumerate(_others(printed)[first : first + 3]):
            x = issuer.left + column * wide
            sheet.text(x, y, issuer.captions[name] + issuer.colon)
            for row, part in enumerate(text.split("\n"), 1):
                sheet.text(x, y + row * sheet.pitch * 0.85, part)
        y += sheet.pitch * 3.4
    return y


def _pairs(sheet: _Drawing, issuer: Issuer, printed: Mapping[str, str]) -> float:
    """Write two captions with their values on each line of the page."""
    y, half = 115.0, (WIDTH - 2 * issuer.left) / 2
    for number, (name, text) in enumerate(_others(printed)):
        x = issuer.left + number % 2 * half
        caption = issuer.captions[name] + issuer.colon
        sheet.text(x, y, caption)
        for row, part in enumerate(text.split("\n")):
            sheet.text(x + length(caption, sheet.size) + 14, y + row * 12, part)
        y += sheet.pitch * 1.7 if number % 2 else 0
    return y + sheet.pitch


_HEADS: Mapping[str, Callable[[_Drawing, Issuer, Mapping[str, str]], float]] = {
    "lines": _lines,
    "columns": _columns,
    "right block": _right_block,
    "boxes": _boxes,
    "header rows": _header_rows,
    "pairs": _pairs,
}


def _sums_right(sheet: _Drawing, issuer: Issuer, sums: Mapping[str, str], y: float) -> None:
    for name, text in sums.items():
        sheet.text(360, y, issuer.captions[name])
        sheet.right(WIDTH - issuer.left, y, text)
        y += sheet.pitch


def _sums_inline(sheet: _Drawing, issuer: Issuer, sums: Mapping[str, str], y: float) -> None:
    for name, text in sums.items():
        sheet.right(WIDTH - issuer.left, y, f"{issuer.captions[name]}: {text}")
        y += sheet.pitch


def _sums_below(sheet: _Drawing, issuer: Issuer, sums: Mapping[str, str], y: float) -> None:
    for number, (name, text) in enumerate(sums.items()):
        sheet.text(issuer.left + number * 160, y, issuer.captions[name])
        sheet.text(issuer.left + number * 160, y + sheet.pitch, text)


def _sums_ruled(sheet: _Drawing, issuer: Issuer, sums: Mapping[str, str], y: float) -> None:
    for name, text in sums.items():
        sheet.box(330, y - 12, WIDTH - issuer.left, y + 5)
        sheet.rule(450, y - 12, 450, y + 5)
        sheet.text(336, y, issuer.captions[name])
        sheet.right(WIDTH - issuer.left - 6, y, text)
        y += 17


_TOTALS: Mapping[str, Callable[[_Drawing, Issuer, Mapping[str, str], float], None]] = {
    "right": _sums_right,
    "inline": _sums_inline,
    "below": _sums_below,
    "ruled": _sums_ruled,
}


def _long(day: date) -> str:
    return f"{_MONTHS[day.month - 1]} {day.day}, {day.year}"


def _euro(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + " €"


DEVELOPED: tuple[Issuer, ...] = (
    Issuer(
        "Quillmoor", "lines", "right",
        {"number": "Invoice No.", "date": "Date", "due": "Due date", "order": "Your order",
         "customer": "Bill to", "net": "Subtotal", "tax": "Sales tax", "total": "Total due"},
    ),
    Issuer(
        "Ferndale", "right block", "ruled",
        {"number": "Invoice #", "date": "Invoice date", "due": "Payment due",
         "customer": "Customer", "address": "Ship to", "net": "Net amount", "tax": "VAT 19%",
         "total": "Amount due"},
        _long, number="{}",
    ),
    Issuer(
        "Tarnbrook", "boxes", "below",
        {"number": "INVOICE NUMBER", "date": "DATE OF ISSUE", "due": "DUE BY",
         "order": "P.O. NUMBER", "customer": "SOLD TO", "address": "DELIVERY ADDRESS",
         "net": "NET", "tax": "TAX", "total": "GRAND TOTAL"},
        lambda day: f"{day:%d %b %Y}", colon="",
    ),
    Issuer(
        "Alder Werke", "columns", "inline",
        {"title": "RECHNUNG", "number": "Rechnungsnummer", "date": "Rechnungsdatum",
         "due": "Zahlbar bis", "order": "Bestellung", "customer": "Ansprechpartner",
         "net": "Nettobetrag", "tax": "MwSt. 19 %", "total": "Gesamtbetrag"},
        lambda day: f"{day:%d.%m.%Y}", _euro, "R{}",
    ),
    Issuer(
        "Harrow", "right block", "below",
        {"number": "Ref", "date": "Dated", "order": "Purchase order", "customer": "Attention",
         "address": "Deliver to", "mail": "Replies to", "net": "Goods", "tax": "Duty",
         "total": "Total payable"},
        _long, lambda value: f"GBP {value:,.2f}", "H-{}-X",
    ),
)  # fmt: skip
"""Issuers whose layouts were known while template learning was developed."""
OTHERS: tuple[Issuer, ...] = (
    Issuer(
        "Saltmarsh", "header rows", "ruled",
        {"number": "Bill number", "date": "Billing date", "due": "Pay by", "order": "Reference",
         "customer": "Account holder", "address": "Service address", "net": "Charges",
         "tax": "Taxes and fees", "total": "Please pay"},
        lambda day: f"{day:%b} {day.day}, {day.year}", lambda value: f"{value:.2f}", "{}-B",
    ),
    Issuer(
        "Kestrel", "pairs", "inline",
        {"number": "Doc no", "date": "Issued", "due": "Terms end", "mail": "E-mail",
         "customer": "Contact", "order": "Job", "net": "Sum", "tax": "GST", "total": "To pay"},
        lambda day: f"{day:%Y-%m-%d}", lambda value: f"{value:,.2f} USD", "KS/{}", size=11,
    ),
    Issuer(
        "Moulin", "columns", "ruled",
        {"title": "FACTURE", "number": "Facture no", "date": "Date de facture", "due": "Echeance",
         "order": "Commande", "customer": "Client", "address": "Adresse", "net": "Total HT",
         "tax": "TVA", "total": "Total TTC"},
        lambda day: f"{day:%d/%m/%Y}", _euro, "F{}", left=60, size=9,
    ),
    Issuer(
        "Brightwater", "boxes", "right",
        {"number": "Statement ID", "date": "Statement date", "due": "Last day to pay",
         "mail": "Contact e-mail", "customer": "Member", "address": "Premises",
         "net": "Before tax", "tax": "City tax", "total": "Balance"},
        lambda day: f"{day:%m-%d-%y}", number="{}", colon="", left=40,
    ),
    Issuer(
        "Lindqvist", "right block", "inline",
        {"number": "Our ref.", "date": "Date raised", "due": "Settle before", "order": "Your PO",
         "customer": "Invoice to", "address": "Site", "mail": "Queries", "net": "Excl. VAT",
         "tax": "VAT", "total": "Incl. VAT"},
        lambda day: f"{day.day} {_MONTHS[day.month - 1]} {day.year}",
        lambda value: f"SEK {value:,.2f}", "{}/24", left=44,
    ),
    Issuer(
        "Padstow", "lines", "below",
        {"number": "Receipt number", "date": "Paid on", "order": "Booking code",
         "customer": "Guest", "address": "Home address", "net": "Room and board", "tax": "Levy",
         "total": "Charged"},
        lambda day: f"{day:%d.%m.%y}", lambda value: f"{value:,.2f}", "RC-{}", size=9.5,
    ),
)  # fmt: skip
"""Issuers with other layouts, on which template learning is only measured."""
