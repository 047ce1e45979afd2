"""Entries of documents for which a template ships: their captions, and made-up American values.

A document has some of the keys of its template, each under one of the captions that the template
knows. People, firms and numbers are invented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random

from bench.form_pages.contents import FIRMS, JOBS, NAMES, STREETS, Entry
from bench.form_pages.sheet import Sheet
from bench.form_pages.sums import Agreement, agreeing_date
from chalicelib.domain.documents.form_template import TemplateKey
from chalicelib.formats.templates.form_template import standard_template

PLACES = (
    ("Springfield", "IL"), ("Fairview", "TX"), ("Salem", "OR"), ("Dover", "DE"), ("Auburn", "WA"),
    ("Clinton", "NY"), ("Riverside", "CA"), ("Madison", "WI"), ("Georgetown", "KY"),
)  # fmt: skip
SUFFIXES = ("Inc.", "LLC", "Corp", "Co.", "Ltd")
MONTHS = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip
COUNTRIES = ("MEXICO", "CANADA", "PHILIPPINES", "POLAND", "U.S.A.", "INDIA")
# How a document writes its dates; one way for each.
DATES: tuple[Callable[[int, int, int], str], ...] = (
    lambda day, month, year: f"{month:02}/{day:02}/{year}",
    lambda day, month, year: f"{month:02}-{day:02}-{year}",
    lambda day, month, year: f"{month}/{day}/{year}",
    lambda day, month, year: f"{month:02}/{day:02}/{year % 100:02}",
    lambda day, month, year: f"{day:02} {MONTHS[month - 1].upper()} {year}",
    lambda day, month, year: f"{day:02} {MONTHS[month - 1]} {year}",
    lambda day, month, year: f"{MONTHS[month - 1]} {day}, {year}",
    lambda day, month, year: f"{year}-{month:02}-{day:02}",
)


class Issuer:
    """Makes up the entries of one document, in one notation of dates, amounts and captions."""

    def __init__(self, sheet: Sheet, form_type: str, dates: tuple[int, ...] = ()) -> None:
        """Choose notations.

        Args:
            sheet: page that is drawn; it gets the template.
            form_type: name of the template.
            dates: indices of the notations in `DATES` that such documents use; by default, all.
        """
        self._sheet, self.random = sheet, sheet.random
        sheet.issued = standard_template(form_type)
        self._keys = {key.entity: key for key in sheet.issued.keys if key.virtual is None}
        self._write = DATES[self.random.choice(dates or range(len(DATES)))]
        self._sign = self.random.choice(("", "", "$"))
        self._variant = self.random.random()
        self.is_upper = self.random.random() < 0.4
        number = int(self._variant * 10**9)
        self._number = number
        self.period, self.year = (Agreement(holds=number % 7 > 0) for _ in range(2))

    def entries(self, entities: Iterable[str], blank: float = 0.0) -> list[Entry]:
        """Make up the entries of some entities, and add them to the sheet."""
        made = [self.entry(entity, blank) for entity in entities if entity in self._keys]
        self._sheet.entries += made
        return made

    def some(self, least: int, most: int, blank: float = 0.0) -> list[Entry]:
        """Make up entries of entities chosen at random, in the template's order."""
        count = min(len(self._keys), self.random.randint(least, most))
        chosen = set(self.random.sample(sorted(self._keys), count))
        return self.entries([entity for entity in self._keys if entity in chosen], blank)

    def entry(self, entity: str, blank: float = 0.0) -> Entry:
        """Make up one entry without adding it."""
        key = self._keys[entity]
        lines = () if self.random.random() < blank else self.value(key)
        if self.is_upper:
            lines = tuple(line.upper() for line in lines)
        # One issuer prints codes before its captions or not, for all of them.
        captions = list(key.variations)
        if entity == "employee_name":
            captions = [text for text in captions if "address" not in text]
        self.random.shuffle(captions)
        captions.sort(key=lambda text: text[0].isdecimal() == (self._variant < 0.5), reverse=True)
        kind = key.types[0] if key.types else ""
        return Entry(entity, tuple(captions), " ".join(lines), lines, kind)

    def put(self, entity: str, text: str) -> None:
        """Add an entry whose value was made up elsewhere."""
        entry = replace(self.entry(entity), value=text, lines=(text,) if text else ())
        self._sheet.entries.append(entry)

    def amount(self, most: float = 90_000) -> str:
        """Return an amount, small ones as often as large ones."""
        top = self.random.choice((most, most / 20, most / 200))
        return f"{self._sign}{self.random.uniform(1, top):,.2f}"

    def amount_of(self, entity: str, most: float = 90_000, whole: bool = False) -> str:
        """Return the amount of an entity, which agrees with the others of the period.

        With `whole`, amounts have no cents.
        """
        drawn = float(self.amount(most).lstrip("$").replace(",", ""))
        amount = self.period.amount(entity, round(drawn) if whole else drawn)
        return f"{self._sign}{amount:,.2f}"

    def date(self, first: int = 2015, last: int = 2031, entity: str = "") -> str:
        """Return a date between two years; the dates of entities of one document agree."""
        random = self.random
        drawn = random.randint(1, 28), random.randint(1, 12), random.randint(first, last)
        return self._write(
            *(agreeing_date(entity, drawn, self._number) if self.period.holds else drawn)
        )

    def value(self, key: TemplateKey) -> tuple[str, ...]:
        """Return the lines of a value."""
        if key.entity in _BLOCKS:
            return _BLOCKS[key.entity](self)
        by_type: Mapping[str, Callable[[], str]] = {
            "CURRENCY": lambda: self.amount_of(key.entity),
            "DATE": lambda: (
                self.date(1950, 2005, key.entity)
                if "birth" in key.entity
                else self.date(entity=key.entity)
            ),
            "NUMBER": lambda: str(self.random.randint(1, 90)),
            "NAME": lambda: self.random.choice(NAMES)["given" not in key.entity],
            "PHONE": lambda: f"({digits(self.random, 3)}) 555-0{digits(self.random, 3)}",
            "EMAIL": lambda: f"{shaped(self.random, 'AAA##').lower()}@example.com",
        }
        if key.entity in _TEXTS:
            return (self.random.choice(_TEXTS[key.entity]),)
        if key.entity in _SHAPES:
            return (shaped(self.random, self.random.choice(_SHAPES[key.entity])),)
        made = by_type.get(key.types[0]) if key.types else None
        return (made() if made else shaped(self.random, "A#####"),)

    def person(self) -> str:
        """Return a name."""
        first, last = self.random.choice(NAMES)
        return self.random.choice((f"{first} {last}", f"{first} J. {last}", f"{last}, {first}"))

    def firm(self) -> str:
        """Return a firm's name."""
        return f"{self.random.choice(FIRMS)} {self.random.choice(SUFFIXES)}"

    def street(self) -> str:
        """Return a street with its number."""
        unit = self.random.choice(("", "", f" Apt {self.random.randint(1, 40)}"))
        return f"{self.random.randint(10, 9900)} {self.random.choice(STREETS)}{unit}"

    def town(self) -> str:
        """Return a town with state and postcode."""
        name, state = self.random.choice(PLACES)
        return f"{name}{self.random.choice((',', ''))} {state} {digits(self.random, 5)}"


def digits(random: Random, count: int) -> str:
    """Return some digits."""
    return "".join(random.choice("0123456789") for _ in range(count))


def shaped(random: Random, shape: str) -> str:
    """Return a text with a digit for each #, and a letter for each A."""
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    return "".join(
        random.choice("0123456789") if each == "#" else random.choice(letters) if each == "A"
        else each
        for each in shape
    )  # fmt: skip


_SSN = ("###-##-####", "XXX-XX-####", "***-**-####")
_ID = ("########", "#######", "A######", "###-####", "AA-#####")
_LONG = ("##########", "#########", "####-####-##", "###############")
# Shape of the values of entities: one of these texts, see `shaped`.
_SHAPES: Mapping[str, tuple[str, ...]] = {
    "ssn": _SSN, "employee_ssn": _SSN, "recipient_tin": _SSN,
    "employer_ein": ("##-#######",), "payer_tin": ("##-#######",), "tax_id": ("##-#######",),
    "tax_year": ("202#",), "refund_tax_year": ("202#",), "payer_rtn": ("#########",),
    "control_number": ("######", "A### ####", "###### AA/AA#"), "account_number": _LONG,
    "verification_code": ("A##A-###A-##A#",), "state_identification_number": ("##-######",),
    "state_payer_number": ("AA/#######", "##-######"),
    "employer_state_id": ("########", "###-#####"),
    "cusip_number": ("#####AAA#",), "box_12a": ("A ###.##", "D ####.##"),
    "box_12b": ("DD ####.##",),
    "box_12c": ("C ##.##",), "box_12d": ("W ###.##",), "other": ("CASDI ###.##", "UN DUES ##.##"),
    "license_number": ("A#######", "#########", "AA######", "###-###-###"),
    "audit_number": ("#########", "AA###"),
    "document_discriminator": ("##AAA##########", "#########"),
    "height": ("5'-0#\"", "5'11\"", "6-01", "5' 0#\""), "weight": ("1## lb", "1##", "2## lbs"),
    "passport_number": ("#########", "A########"),
    "uscis_number": ("###-###-###",), "alien_number": ("A### ### ###",),
    "employee_id": _ID, "check_number": ("######", "0000####"), "routing_number": ("#########",),
    "iban": ("DE## #### #### #### ##",), "bic": ("AAAADEFFXXX",), "customer_number": _ID,
    "statement_number": ("##", "##/####"), "bank_account": ("DE## #### #### #### ##",),
    "invoice_number": ("INV-#####", "######", "AA-202#-###", "#####"), "purchase_order": _ID,
    "receipt_number": ("####", "######", "#-####"), "time": ("1#:##", "1#:## PM", "0#:##:##"),
    "register": ("#", "0#"), "table": ("##",), "authorization_code": ("######", "A#####"),
    "card_number": ("************####", "XXXX XXXX XXXX ####"), "type": ("P",),
}  # fmt: skip
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "country_code": ("USA",),
    "state": tuple(state for _, state in PLACES), "locality_name": ("Clinton", "NYC", "SPRGFLD"),
    "class": ("C", "D", "A", "DM"), "endorsements": ("NONE", "M", "SEE PAGE 51"),
    "restrictions": ("NONE", "B", "CORR LENS", "A"), "sex": ("M", "F"), "category": ("IR1", "F41"),
    "eyes": ("BRO", "BLU", "HAZ", "GRN"), "hair": ("BRN", "BLK", "BLN"),
    "nationality": ("UNITED STATES OF AMERICA",), "country_of_birth": COUNTRIES,
    "place_of_birth": ("DOVER, DELAWARE, U.S.A.", "WARSAW, POLAND", "TEXAS, U.S.A."),
    "authority": ("United States Department of State", "Passport Agency New Orleans"),
    "foreign_country": ("Canada", "Various"), "department": ("1200", "Sales", "Support", "W-22"),
    "job_title": JOBS, "payment_terms": ("Net 30", "Due on receipt", "Net 15", "2% 10, net 30"),
    "hours": ("80.00", "86.67", "40.0"), "overtime_hours": ("4.50", "6.00"),
    "cashier": ("Rosa", "Liam B.", "0112", "Self checkout"),
}  # fmt: skip


def _dates(issuer: Issuer) -> tuple[str, ...]:
    between = issuer.random.choice((" - ", " to ", " through "))
    return (f"{issuer.date()}{between}{issuer.date()}",)


_BLOCKS: Mapping[str, Callable[[Issuer], tuple[str, ...]]] = {
    "payer": lambda issuer: (issuer.firm(), issuer.street(), issuer.town()),
    "employer_name_address": lambda issuer: (issuer.firm(), issuer.street(), issuer.town()),
    "bill_to": lambda issuer: (issuer.person(), issuer.street(), issuer.town()),
    "ship_to": lambda issuer: (issuer.firm(), issuer.street(), issuer.town()),
    "address": lambda issuer: (issuer.street(), issuer.town()),
    "employee_address": lambda issuer: (issuer.street(), issuer.town()),
    "employer_address": lambda issuer: (f"{issuer.street()}, {issuer.town()}",),
    "recipient_address": lambda issuer: (issuer.street(),),
    "recipient_city": lambda issuer: (issuer.town(),),
    "recipient_name": lambda issuer: (issuer.person(),),
    "employee_name": lambda issuer: (issuer.person(),),
    "account_holder": lambda issuer: (issuer.person(),),
    "sales_person": lambda issuer: (issuer.person(),),
    "employer": lambda issuer: (issuer.firm(),),
    "pay_period": _dates,
    "statement_period": _dates,
}
