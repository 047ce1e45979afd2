"""The texts of generated forms: captions in seven languages, and values made up by a seed.

Captions and values were written for this project; people, firms and numbers are invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

NAMES = (
    ("Ingrid", "Sommer"), ("Tomás", "Ferreira"), ("Grace", "Okafor"), ("Liam", "Byrne"),
    ("Noor", "Haddad"), ("Chiara", "Lombardi"), ("Sven", "Dijkstra"), ("Elodie", "Marchand"),
    ("Mateusz", "Nowak"), ("Priya", "Raman"), ("Oscar", "Delgado"), ("Hannah", "Weiss"),
    ("Joseph", "McKenna"), ("Amelia", "van der Berg"), ("Kenji", "Mori"), ("Rosa", "Castillo"),
)  # fmt: skip
STREETS = ("Mill Lane", "Harbour Road", "Station Street", "Kirchweg", "Rue du Port", "Via Roma")
TOWNS = ("Ashford", "Brookhaven", "Lindau", "Annecy", "Girona", "Evora", "Zwolle", "Marlow")
FIRMS = ("Northgate Tools", "Weber Logistik", "Atelier Duval", "Blue Heron Foods", "Sol y Mar")
JOBS = ("Electrician", "Nurse", "Warehouse clerk", "Teacher", "Driver", "Accountant", "Cook")
CITIZENS = ("German", "French", "Irish", "Polish", "Spanish", "Dutch", "Japanese")
DEPARTMENTS = ("Sales", "Purchasing", "Human Resources", "Support", "Quality", "R&D")
REMARKS = (
    "Deliver to the rear entrance after 2 pm.", "Customer asked for a call back.", "none",
    "Original receipts are attached.", "Paid by transfer, see page 2.", "Keep refrigerated",
    "The part was replaced under warranty and tested for two hours.",
)  # fmt: skip
MONTHS = ("January", "March", "April", "June", "August", "October", "December")

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
CAPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "name": {
        "en": ("Full name", "Name of applicant", "Name"), "de": ("Name", "Vor- und Nachname"),
        "fr": ("Nom et prénom", "Nom"), "es": ("Nombre y apellidos", "Nombre"),
        "it": ("Nome e cognome",), "pt": ("Nome completo",), "nl": ("Naam", "Volledige naam"),
    },
    "address": {
        "en": ("Address", "Mailing address", "Home address"), "de": ("Anschrift", "Adresse"),
        "fr": ("Adresse",), "es": ("Dirección", "Domicilio"), "it": ("Indirizzo",),
        "pt": ("Morada", "Endereço"), "nl": ("Adres",),
    },
    "town": {
        "en": ("City", "Town"), "de": ("Ort", "Wohnort"), "fr": ("Ville", "Commune"),
        "es": ("Ciudad",), "it": ("Città",), "pt": ("Cidade",), "nl": ("Plaats",),
    },
    "birth": {
        "en": ("Date of birth", "Birth date", "DOB"), "de": ("Geburtsdatum", "Geboren am"),
        "fr": ("Date de naissance",), "es": ("Fecha de nacimiento",),
        "it": ("Data di nascita",), "pt": ("Data de nascimento",), "nl": ("Geboortedatum",),
    },
    "phone": {
        "en": ("Phone", "Telephone", "Daytime phone"), "de": ("Telefon", "Telefonnummer"),
        "fr": ("Téléphone",), "es": ("Teléfono",), "it": ("Telefono",), "pt": ("Telefone",),
        "nl": ("Telefoon",),
    },
    "mail": {
        "en": ("E-mail", "Email address"), "de": ("E-Mail",), "fr": ("Courriel", "E-mail"),
        "es": ("Correo electrónico",), "it": ("E-mail",), "pt": ("E-mail",), "nl": ("E-mail",),
    },
    "job": {
        "en": ("Occupation", "Job title", "Position"), "de": ("Beruf", "Tätigkeit"),
        "fr": ("Profession",), "es": ("Profesión",), "it": ("Professione",),
        "pt": ("Profissão",), "nl": ("Beroep",),
    },
    "firm": {
        "en": ("Company", "Employer", "Company name"), "de": ("Firma", "Arbeitgeber"),
        "fr": ("Société", "Employeur"), "es": ("Empresa",), "it": ("Azienda",),
        "pt": ("Empresa",), "nl": ("Bedrijf",),
    },
    "department": {
        "en": ("Department", "Dept."), "de": ("Abteilung",), "fr": ("Service",),
        "es": ("Departamento",), "it": ("Reparto",), "pt": ("Departamento",), "nl": ("Afdeling",),
    },
    "number": {
        "en": ("Policy no.", "Policy number"), "de": ("Vertragsnummer", "Vertrags-Nr."),
        "fr": ("N° de contrat",), "es": ("N.º de póliza",), "it": ("Numero polizza",),
        "pt": ("Apólice n.º",), "nl": ("Polisnummer",),
    },
    "customer": {
        "en": ("Customer no.", "Account number", "Customer ID"), "de": ("Kundennummer",),
        "fr": ("N° client",), "es": ("N.º de cliente",), "it": ("Codice cliente",),
        "pt": ("N.º de cliente",), "nl": ("Klantnummer",),
    },
    "date": {
        "en": ("Date", "Date issued", "Issue date"), "de": ("Datum", "Ausstellungsdatum"),
        "fr": ("Date", "Date d'émission"), "es": ("Fecha",), "it": ("Data",), "pt": ("Data",),
        "nl": ("Datum",),
    },
    "expiry": {
        "en": ("Expiration date", "Valid until", "Due date"), "de": ("Gültig bis", "Fällig am"),
        "fr": ("Date d'expiration", "Échéance"), "es": ("Fecha de caducidad", "Vencimiento"),
        "it": ("Scadenza",), "pt": ("Validade",), "nl": ("Geldig tot",),
    },
    "total": {
        "en": ("Total", "Amount due", "Total amount"), "de": ("Gesamtbetrag", "Summe"),
        "fr": ("Montant total", "Total"), "es": ("Importe total",), "it": ("Totale",),
        "pt": ("Total",), "nl": ("Totaalbedrag",),
    },
    "net": {
        "en": ("Subtotal", "Net amount"), "de": ("Nettobetrag", "Zwischensumme"),
        "fr": ("Sous-total",), "es": ("Base imponible",), "it": ("Imponibile",),
        "pt": ("Subtotal",), "nl": ("Subtotaal",),
    },
    "tax": {
        "en": ("Tax", "Sales tax", "Tax withheld"), "de": ("MwSt.", "Umsatzsteuer"),
        "fr": ("TVA",), "es": ("IVA",), "it": ("IVA",), "pt": ("IVA",), "nl": ("Btw",),
    },
    "salary": {
        "en": ("Annual salary", "Gross pay", "Wages"), "de": ("Bruttolohn", "Gehalt"),
        "fr": ("Salaire brut",), "es": ("Salario bruto",), "it": ("Retribuzione lorda",),
        "pt": ("Salário bruto",), "nl": ("Brutoloon",),
    },
    "quantity": {
        "en": ("Quantity", "Number of items", "Hours worked"), "de": ("Anzahl", "Menge"),
        "fr": ("Quantité",), "es": ("Cantidad",), "it": ("Quantità",), "pt": ("Quantidade",),
        "nl": ("Aantal",),
    },
    "citizen": {
        "en": ("Nationality", "Citizenship"), "de": ("Staatsangehörigkeit",),
        "fr": ("Nationalité",), "es": ("Nacionalidad",), "it": ("Cittadinanza",),
        "pt": ("Nacionalidade",), "nl": ("Nationaliteit",),
    },
    "reference": {
        "en": ("Your reference", "Reference", "Ref."), "de": ("Ihr Zeichen", "Referenz"),
        "fr": ("Votre référence",), "es": ("Referencia",), "it": ("Riferimento",),
        "pt": ("Referência",), "nl": ("Referentie",),
    },
    "account": {
        "en": ("Bank account", "IBAN"), "de": ("IBAN", "Bankverbindung"), "fr": ("IBAN",),
        "es": ("IBAN",), "it": ("IBAN",), "pt": ("IBAN",), "nl": ("IBAN",),
    },
    "sex": {
        "en": ("Sex", "Gender"), "de": ("Geschlecht",), "fr": ("Sexe",), "es": ("Sexo",),
        "it": ("Sesso",), "pt": ("Sexo",), "nl": ("Geslacht",),
    },
    "height": {
        "en": ("Height",), "de": ("Größe",), "fr": ("Taille",), "es": ("Estatura",),
        "it": ("Statura",), "pt": ("Altura",), "nl": ("Lengte",),
    },
    "remarks": {
        "en": ("Remarks", "Comments", "Notes"), "de": ("Bemerkungen",), "fr": ("Remarques",),
        "es": ("Observaciones",), "it": ("Note",), "pt": ("Observações",),
        "nl": ("Opmerkingen",),
    },
}  # fmt: skip
# The type that a template may name for a field; the others are plain texts.
TYPES = {
    "name": "NAME", "address": "ADDRESS", "birth": "DATE", "phone": "PHONE", "mail": "EMAIL",
    "date": "DATE", "expiry": "DATE", "total": "CURRENCY", "net": "CURRENCY", "tax": "CURRENCY",
    "salary": "CURRENCY", "quantity": "NUMBER",
}  # fmt: skip
AMOUNTS = ("total", "net", "tax", "salary")
# Captions of numbered lines, which stand for the sums of tax forms and statements.
LINE_CAPTIONS = (
    "Wages, salaries and tips", "Taxable interest", "Ordinary dividends", "Pensions received",
    "Rental income", "Other income from the attached list", "Total income before deductions",
    "Contributions to retirement plans", "Interest on student loans", "Adjusted income",
    "Standard deduction", "Tax from the table", "Credit for dependents", "Payments made so far",
    "Amount you owe", "Amount to be refunded", "Losses carried forward", "Fees and commissions",
)  # fmt: skip
# Official captions are often longer than a word or two: on so many fields.
LONG_SHARE = 0.25
ADDITIONS = (
    "of the person named above", "(first, middle, last)", "as shown on the card",
    "including apartment no.", "if different from above", "for the period stated",
    "withheld by the payer", "of business or employer",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One field of a form."""

    entity: str
    captions: tuple[str, ...]
    """All captions that the language has for it; the first is printed."""
    value: str
    """Value as one line of text; empty if the form leaves it blank."""
    lines: tuple[str, ...]
    """Value as it is written, line by line."""
    type: str = ""
    """The type that a template may name; empty for plain text."""


def draw_entries(random: Random, count: int, language: str, blank: float) -> list[Entry]:
    """Choose fields of a form at random, each blank with a probability."""
    entities = random.sample(sorted(CAPTIONS), count)
    return [draw_entry(random, entity, language, blank) for entity in entities]


def draw_entry(random: Random, entity: str, language: str, blank: float) -> Entry:
    """Make up one field of a form."""
    captions = list(CAPTIONS[entity][language])
    random.shuffle(captions)
    if language == "en" and random.random() < LONG_SHARE:
        captions = [f"{caption} {random.choice(ADDITIONS)}" for caption in captions]
    lines = () if random.random() < blank else _value(random, entity, language)
    return Entry(entity, tuple(captions), " ".join(lines), lines, TYPES.get(entity, ""))


def draw_sums(random: Random, count: int, blank: float) -> list[Entry]:
    """Make up lines of amounts in English."""
    entries = []
    for number, caption in enumerate(random.sample(LINE_CAPTIONS, count)):
        lines = () if random.random() < blank else (amount(random, "en"),)
        entries.append(Entry(f"line_{number}", (caption,), "".join(lines), lines, "CURRENCY"))
    return entries


def amount(random: Random, language: str) -> str:
    """Return an amount as a language writes it, sometimes with its currency."""
    text = f"{random.choice((random.uniform(1, 99), random.uniform(100, 98_000))):,.2f}"
    if language == "en":
        return random.choice(("$", "", "")) + text
    return text.translate(str.maketrans(",.", ".,")) + random.choice((" €", "", " EUR"))


def _digits(random: Random, count: int) -> str:
    return "".join(random.choice("0123456789") for _ in range(count))


def _groups(random: Random, count: int) -> str:
    return " ".join(_digits(random, 4) for _ in range(count))


def _date(random: Random, language: str) -> str:
    day, month, year = random.randint(1, 28), random.randint(1, 12), random.randint(1950, 2031)
    if language == "en":
        long = f"{random.choice(MONTHS)} {day}, {year}"
        return random.choice((f"{month:02}/{day:02}/{year}", long, f"{year}-{month:02}-{day:02}"))
    mark = "." if language == "de" else random.choice("/-")
    return f"{day:02}{mark}{month:02}{mark}{year}"


def _value(random: Random, entity: str, language: str) -> tuple[str, ...]:
    """Return the lines of a value."""
    first, last = random.choice(NAMES)
    code = f"{random.choice('ABCKRT')}{random.choice('DLMPX')}"
    town = random.choice(TOWNS)
    if entity in AMOUNTS:
        return (amount(random, language),)
    if entity in ("birth", "date", "expiry"):
        return (_date(random, language),)
    if entity == "address":
        street = f"{random.randint(1, 420)} {random.choice(STREETS)}"
        place = f"{_digits(random, 5)} {town}"
        firm = random.choice(FIRMS)
        return random.choice(((street, place), (firm, street, place), (f"{street}, {place}",)))
    texts: dict[str, tuple[str, ...]] = {
        "name": (f"{first} {last}", f"{last}, {first}", f"{last.upper()} {first.upper()}"),
        "town": (town, town.upper()),
        "phone": (
            f"({_digits(random, 3)}) 555-0{_digits(random, 3)}",
            f"+49 30 {_digits(random, 7)}",
            f"0{_digits(random, 3)} {_digits(random, 6)}",
        ),
        "mail": (
            f"{first.lower()}.{_digits(random, 2)}@example.org",
            f"{code}@example.com".lower(),
        ),
        "job": JOBS,
        "firm": FIRMS,
        "department": DEPARTMENTS,
        "number": (f"{code}-{_digits(random, 6)}", _digits(random, 9)),
        "customer": (_digits(random, 7), f"K{_digits(random, 5)}", _groups(random, 2)),
        "quantity": (str(random.randint(1, 400)), f"{random.randint(1, 160)}.5"),
        "citizen": CITIZENS,
        "reference": (f"{code}/{_digits(random, 3)}", f"{first[0]}{last[0]} {_digits(random, 4)}"),
        "account": (f"DE{_digits(random, 2)} {_groups(random, 3)}",),
        "sex": ("M", "F"),
        "height": (f"1.{random.randint(50, 99)} m", f"{random.randint(150, 199)} cm", "5'-09\""),
        "remarks": REMARKS,
    }  # fmt: skip
    return (random.choice(texts[entity]),)
