"""Tables of many columns, modelled on exports of help desks, CRM, forms, shops and mailboxes.

Texts are put together from phrases, so that nothing in them depends on a person.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.corpus.texts import rows_of
from tests.workbooks import sheet, workbook

ROWS = 200
_PHRASES = {
    "en": (
        ("my parcel", "the invoice", "the blue lamp", "your app", "this order", "the second box"),
        ("has not arrived yet", "was charged twice", "does not switch on", "shows an error"),
        ("since Monday", "although I paid", "and nobody answers", "please help me soon"),
    ),
    "de": (
        ("mein Paket", "die Rechnung", "die blaue Lampe", "Ihre App", "diese Bestellung"),
        ("ist noch nicht da", "wurde zweimal abgebucht", "geht nicht an", "zeigt einen Fehler"),
        ("seit Montag", "obwohl ich bezahlt habe", "bitte helfen Sie mir", "und keiner antwortet"),
    ),
    "fr": (
        ("mon colis", "la facture", "la lampe bleue", "votre application", "cette commande"),
        ("n'est pas arrivé", "est débitée deux fois", "ne s'allume pas", "affiche une erreur"),
        ("depuis lundi", "alors que j'ai payé", "merci de m'aider vite", "sans réponse"),
    ),
    "es": (
        ("mi paquete", "la factura", "la lámpara azul", "su aplicación", "este pedido"),
        ("no ha llegado", "se cobró dos veces", "no se enciende", "muestra un error"),
        ("desde el lunes", "aunque ya pagué", "por favor ayúdenme", "y nadie contesta"),
    ),
    "ja": (
        ("私の荷物が", "請求書が", "青いランプが", "アプリが", "この注文が"),
        ("まだ届きません。", "二重に請求されました。", "点灯しません。", "エラーになります。"),
        ("月曜日からです。", "支払い済みです。", "早めにお願いします。", "返事がありません。"),
    ),
}
_KINDS = {
    "en": ("Delivery", "Billing", "Defect", "Account", "Other request"),
    "de": ("Lieferung", "Abrechnung", "Mangel", "Konto", "Sonstiges"),
    "fr": ("Livraison", "Facturation", "Défaut", "Compte"),
    "es": ("Envío", "Facturación", "Defecto", "Cuenta"),
    "ja": ("配送", "請求", "故障", "アカウント"),
}
_PEOPLE = ("Ana Lind", "Ben Oduya", "Chi Wang", "Dora Klee", "Eli Roth", "Fay Moss")


class _Cells:
    """Makes the cells of one table."""

    def __init__(self, seed: int, language: str) -> None:
        self._chance = random.Random(seed)
        self._phrases, self._kinds = _PHRASES[language], _KINDS[language]
        self._gap = "" if language == "ja" else " "

    def short(self, _: int) -> str:
        """Return a subject."""
        return self._gap.join(self._chance.choice(part) for part in self._phrases[:2])

    def text(self, row: int) -> str:
        """Return a message of several sentences."""
        parts = [self._gap.join(self._chance.choice(part) for part in self._phrases)]
        parts += [self.short(row) for _ in range(self._chance.randint(1, 4))]
        return f". {self._gap}".join(parts) + f" {row + 1000}."

    def kind(self, _: int) -> str:
        """Return a label."""
        return self._chance.choices(self._kinds, range(len(self._kinds) + 1, 1, -1))[0]

    def one_of(self, *values: str) -> Callable[[int], str]:
        """Return a column of some values."""
        return lambda _: self._chance.choice(values)

    def person(self, _: int) -> str:
        """Return a name."""
        return self._chance.choice(_PEOPLE)

    def mail(self, row: int) -> str:
        """Return an address."""
        return f"customer{row % 71}@mail.test"

    def number(self, row: int) -> str:
        """Return an identifier."""
        return f"{48_211 + 7 * row}"

    def code(self, row: int) -> str:
        """Return an identifier with letters."""
        return f"REQ-{row + 311:05d}"

    def time(self, row: int) -> str:
        """Return a moment."""
        return f"2026-0{1 + row % 9}-{1 + row % 28:02d} {row % 24:02d}:{row * 7 % 60:02d}"

    def rarely(self, make: Callable[[int], str]) -> Callable[[int], str]:
        """Return a column that is mostly empty."""
        return lambda row: make(row) if self._chance.random() < 0.3 else ""

    def empty(self, _: int) -> str:
        """Return nothing."""
        return ""


@dataclass(frozen=True)
class WideTable:
    """A table, and the columns that a person would choose."""

    name: str
    content: bytes
    text: str
    """Name of the column of the texts, or its position."""
    label: str
    choice: str = ""
    """What the person must say: `text` or `label`; empty if nothing."""


Column = tuple[str, Callable[[int], str]]
_SPECIFIED: list[tuple[str, str, str, str, str, Callable[[_Cells], list[Column]], str]] = [
    ("help desk", "en", "Description", "Type", "", lambda c: [
        ("Ticket ID", c.number), ("Created at", c.time), ("Subject", c.short),
        ("Description", c.text), ("Status", c.one_of("open", "solved", "pending")),
        ("Priority", c.one_of("low", "normal", "high", "urgent")), ("Assignee", c.person),
        ("Group", c.one_of("Tier 1", "Tier 2", "Field")), ("Requester", c.mail),
        ("Channel", c.one_of("email", "web", "chat", "phone")), ("Type", c.kind),
        ("Satisfaction", c.rarely(c.one_of("good", "bad")))], ","),
    ("service desk", "en", "Description", "Category", "", lambda c: [
        ("Number", c.code), ("Opened", c.time), ("Short description", c.short),
        ("Description", c.text), ("Caller", c.person), ("State", c.one_of("New", "Closed")),
        ("Category", c.kind), ("Assignment group", c.one_of("Network", "Desktop", "Database")),
        ("Impact", c.one_of("1 - High", "2 - Medium", "3 - Low"))], ","),
    ("issue tracker", "en", "Description", "Component", "label", lambda c: [
        ("Issue key", c.code), ("Issue id", c.number), ("Summary", c.short),
        ("Status", c.one_of("To Do", "In Progress", "Done")), ("Reporter", c.person),
        ("Component", c.kind), ("Sprint", c.one_of("Alpha", "Beta", "Gamma", "Delta")),
        ("Description", c.text), ("Updated", c.time)], ","),
    ("CRM cases", "de", "Beschreibung", "Kategorie", "", lambda c: [
        ("Fallnummer", c.number), ("Erstellt am", c.time), ("Kunde", c.person),
        ("Betreff", c.short), ("Beschreibung", c.text), ("Kategorie", c.kind),
        ("Status", c.one_of("offen", "erledigt")), ("Bearbeiter", c.person),
        ("Herkunft", c.one_of("Telefon", "E-Mail", "Laden"))], ";"),
    ("form", "en", "What can we do better?", "What is it about?", "", lambda c: [
        ("Timestamp", c.time), ("E-mail address", c.mail),
        ("How often do you buy here?", c.one_of("weekly", "monthly")),
        ("What is it about?", c.kind), ("What can we do better?", c.text),
        ("May we call you?", c.one_of("Yes", "No"))], ","),
    ("mailbox", "en", "Body", "Folder", "label", lambda c: [
        ("Date", c.time), ("From", c.mail), ("To", c.one_of("help@shop.test", "info@shop.test")),
        ("Subject", c.short), ("Body", c.text), ("Folder", c.kind),
        ("Flag", c.rarely(c.one_of("red", "green")))], ","),
    ("reviews", "fr", "Commentaire", "Catégorie", "", lambda c: [
        ("Référence", c.code), ("Date", c.time), ("Magasin", c.one_of("Lyon", "Lille", "Nantes")),
        ("Note", c.one_of("1", "2", "3", "4", "5")), ("Titre", c.short),
        ("Commentaire", c.text), ("Catégorie", c.kind), ("Réponse", c.rarely(c.text))], ";"),
    ("survey", "es", "Comentario", "Tema", "", lambda c: [
        ("Folio", c.number), ("Fecha", c.time), ("Ciudad", c.one_of("Lima", "Quito", "Bogotá")),
        ("Edad", c.one_of("18-29", "30-44", "45-60")), ("Comentario", c.text), ("Tema", c.kind)],
        "\t"),
    ("requests", "ja", "内容", "カテゴリ", "", lambda c: [
        ("受付番号", c.number), ("日時", c.time), ("氏名", c.person), ("内容", c.text),
        ("カテゴリ", c.kind), ("状態", c.one_of("対応中", "完了")), ("担当者", c.person)], ","),
    ("wide export", "en", "Comment", "Reason", "", lambda c: [
        *((f"Custom field {n}", c.empty) for n in range(1, 12)), ("Id", c.number),
        ("Opened on", c.time), ("Comment", c.text), ("Reason", c.kind), ("Agent", c.person),
        ("Country", c.one_of("Norway", "Spain", "Chile")), ("Device", c.one_of("phone", "desktop")),
        *((f"Extra {n}", c.rarely(c.number)) for n in range(1, 12))], ","),
    ("shop", "en", "message_body", "contact_reason", "", lambda c: [
        ("order_no", c.code), ("message_body", c.text), ("contact_reason", c.kind),
        ("store", c.one_of("north", "south", "web")), ("resolved_at", c.time),
        ("agent_reply", c.text)], ","),
    ("chat", "de", "Nachricht", "Thema", "", lambda c: [
        ("Sitzung", c.code), ("Beginn", c.time), ("Nachricht", c.text), ("Thema", c.kind),
        ("Gerät", c.one_of("Telefon", "Rechner")), ("Antwort", c.text),
        ("Bewertung", c.rarely(c.one_of("1", "2", "3")))], ";"),
    ("decimal commas", "de", "Anfragetext", "Anliegen", "", lambda c: [
        ("Vorgang", c.number), ("Eingang", c.time), ("Kundenname", c.person),
        ("Anliegen", c.kind), ("Anfragetext", c.text), ("Sachbearbeiter", c.person),
        ("Auftragswert", lambda row: f"{row},{row % 90 + 10}")], ";"),
    ("repeated names", "en", "Description", "Component/s", "", lambda c: [
        ("Summary", c.short), ("Issue key", c.code), ("Priority", c.one_of("Low", "High")),
        ("Labels", c.rarely(c.one_of("ui", "core"))), ("Labels", c.rarely(c.one_of("vip", "eu"))),
        ("Component/s", c.kind), ("Description", c.text)], ","),
    ("numbered questions", "en", "What can we improve?", "Which area is it?", "", lambda c: [
        ("Respondent ID", c.number), ("Email Address", c.mail), ("Q1", c.one_of("1", "2", "9")),
        ("Custom Data 1", c.empty), ("Which area is it?", c.kind),
        ("What can we improve?", c.text)], ","),
    ("two columns with known words", "es", "Cuéntenos más", "¿Cuál es el asunto?", "", lambda c: [
        ("Fecha", c.time), ("Correo", c.mail), ("¿Cuál es el asunto?", c.kind),
        ("Cuéntenos más", c.text), ("¿Es cliente?", c.one_of("Sí", "No"))], ","),
    ("without names", "en", "3", "5", "", lambda c: [
        ("48204", c.number), ("2026-01-01 10:00", c.time), ("my lamp broke", c.text),
        ("c9@mail.test", c.mail), ("Defect", c.kind)], ","),
]  # fmt: skip


def _table(number: int) -> WideTable:
    name, language, text, label, choice, make, delimiter = _SPECIFIED[number]
    columns = make(_Cells(number, language))
    rows: list[Sequence[str]] = [[title for title, _ in columns]]
    rows += [[cell(row) for _, cell in columns] for row in range(ROWS)]
    is_book = number % 3 == 0 and delimiter == ","
    content = workbook({"Export": sheet(rows)}) if is_book else rows_of(rows, delimiter).encode()
    return WideTable(name, content, text, label, choice)


def wide_tables() -> list[WideTable]:
    """Return the tables."""
    return [_table(number) for number in range(len(_SPECIFIED))]
