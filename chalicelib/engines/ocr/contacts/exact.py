"""Finds contacts by their format: phone numbers, mail and web addresses, with their labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.engines.ocr.contacts import labels, settings
from chalicelib.engines.ocr.contacts.piece import CardPiece
from chalicelib.engines.ocr.kinds.address import address_confidence
from chalicelib.engines.ocr.kinds.internet import find_mails, find_websites
from chalicelib.engines.ocr.kinds.organisation import has_legal_form
from chalicelib.engines.ocr.kinds.person import person_confidence
from chalicelib.engines.ocr.kinds.phone import digits_of, find_phones
from chalicelib.engines.ocr.kinds.postcode import find_postcodes
from chalicelib.engines.ocr.kinds.span import Span, without_overlaps
from chalicelib.engines.ocr.kinds.title import title_confidence

_MARKS = " \t|•·/\\,;:-–—=*►■●▪»>&+()[]{}_~"
_MISREAD_MAIL = re.compile(r"[A-Za-z0-9._\-@©®]{4,80}")


@dataclass(frozen=True, slots=True, eq=False)
class EntityMatch:
    """A contact that was found, with the pieces of text that contain it."""

    tag: str
    """Kind of contact: one of the tags of `Contact`."""
    text: str
    """Text of the contact without its label."""
    confidence: float
    """Confidence of the tag, 0 to 1."""
    pieces: tuple[CardPiece, ...]
    """Pieces that contain the contact, in order; at least one."""


def exact_entities(piece: CardPiece) -> tuple[list[EntityMatch], list[CardPiece]]:
    """Split a piece into phone numbers, mail and web addresses, and the remaining text."""
    spans = _spans_of(piece.text)
    return _cut(piece, spans) if spans else _labelled(piece)


def _spans_of(text: str) -> list[tuple[str, Span]]:
    mails = find_mails(text)
    sites = [site for site in find_websites(text) if not any(site.overlaps(one) for one in mails)]
    known = [*mails, *sites]
    phones = [phone for phone in find_phones(text) if not any(phone.overlaps(one) for one in known)]
    phones = _without_postcodes(text, phones)
    tagged = dict.fromkeys(mails, labels.EMAIL)
    tagged |= dict.fromkeys(sites, labels.WEBSITE)
    tagged |= dict.fromkeys(phones, labels.PHONE)
    return [(tagged[span], span) for span in without_overlaps(tagged)]


def _without_postcodes(text: str, phones: Sequence[Span]) -> list[Span]:
    """Remove spans that look like phone numbers but belong to an address or postcode."""
    if all(phone.confidence >= settings.SURE_KIND for phone in phones):
        return list(phones)
    codes = find_postcodes(text)
    is_address = address_confidence(text) >= settings.SURE_KIND
    return [
        phone
        for phone in phones
        if phone.confidence >= settings.SURE_KIND
        or labels.tag_before(text[: phone.start])[0]
        or not (
            any(phone.overlaps(code) for code in codes)
            or (is_address and text[: phone.start].strip(_MARKS))
        )
    ]


def _cut(
    piece: CardPiece, spans: Sequence[tuple[str, Span]]
) -> tuple[list[EntityMatch], list[CardPiece]]:
    """Cut spans and their labels out of a piece; return the contacts and the remaining text."""
    text = piece.text
    found: list[EntityMatch] = []
    rest: list[CardPiece] = []
    edge = 0
    for place, (kind, span) in enumerate(spans):
        end = spans[place + 1][1].start if place + 1 < len(spans) else len(text)
        tag, start = labels.tag_before(text[edge : span.start])
        start += edge
        after = 0
        if kind == labels.PHONE and tag is None:
            later, after = labels.tag_after(text[span.end : end])
            tag, start = (later, span.start) if later else (tag, start)
        if kind == labels.PHONE and tag == labels.OTHER:
            # The label of a registration number is part of its text.
            span = Span(start, span.end, text[start : span.end], settings.UNLABELLED_MOBILE)
        part = piece.cut(span.start, span.end)
        if part is not None:
            found.append(_entity(kind, tag, span, part))
        _keep(rest, piece, (edge, start), before_number=True)
        edge = span.end + after
    _keep(rest, piece, (edge, len(text)), before_number=False)
    return found, rest


def _entity(kind: str, label: str | None, span: Span, part: CardPiece) -> EntityMatch:
    """Convert a span to a contact; the label before or after it, if any, determines the tag."""
    tag = kind
    confidence = span.confidence
    if kind == labels.PHONE:
        if label in labels.NUMBERS:
            tag, confidence = label, max(confidence, settings.SUREST)
        elif label == labels.OTHER:
            tag = labels.OTHER
        elif is_mobile_number(span.text):
            tag, confidence = labels.MOBILE_PHONE, settings.UNLABELLED_MOBILE * confidence
    elif kind == labels.WEBSITE and label == labels.EMAIL and "www" not in span.text.lower():
        # The engine missed the at sign. The text stays as it was read.
        tag, confidence = labels.EMAIL, settings.MISREAD_ENTITY
    return EntityMatch(tag, span.text, confidence, (part,))


def is_mobile_number(text: str) -> bool:
    """Return whether a number begins like the number of a mobile phone."""
    digits = digits_of(text)
    return bool(_MOBILE.match(("+" if text.lstrip("( ").startswith("+") else "") + digits))


_MOBILE = re.compile(
    r"(?:\+440?7[1-9]\d{8}|07[1-9]\d{8}|\+490?1[567]\d{8,9}|01[567]\d{8,9}|\+330?[67]\d{8}|"
    r"0[67]\d{8}|\+610?4\d{8}|04\d{8}|\+91[6-9]\d{9}|\+3[49]0?[367]\d{8}|\+310?6\d{8}|"
    r"\+410?7[5-9]\d{7}|\+659?[89]\d{7}|\+9715\d{8}|\+8613\d{9}|\+8618\d{9}|\+810?[789]0\d{8})$"
)


def _keep(
    rest: list[CardPiece], piece: CardPiece, bounds: tuple[int, int], *, before_number: bool
) -> None:
    """Append the text between two contacts to `rest`, unless it is only a label."""
    start, end = bounds
    cut = piece.text[start:end]
    start += len(cut) - len(cut.lstrip(_OPENING))
    end = start + len(piece.text[start:end].rstrip(_MARKS.replace(")", "")))
    text = piece.text[start:end]
    is_real = sum(map(str.isalnum, text)) > 1 and not labels.is_label(text)
    if is_real and not (before_number and _introduces(text, cut)):
        rest.append(piece.part(start, end))


_OPENING = _MARKS.replace("(", "").replace("+", "")


def _introduces(text: str, cut: str) -> bool:
    """Return whether a text is only a label of the number after it: `Sales: 555 0100`."""
    words = text.split()
    if len(words) > settings.LABEL_WORDS or has_legal_form(text):
        return False
    kinds = (address_confidence(text), person_confidence(text), title_confidence(text))
    is_contact = max(kinds) >= settings.SURE_KIND or len(words) >= settings.LABEL_WORDS
    return cut.rstrip().endswith(":") or not is_contact


def _labelled(piece: CardPiece) -> tuple[list[EntityMatch], list[CardPiece]]:
    """Return the contact in a piece with a label and a misread value: `Email: dana.orchid`.

    If the piece has no such contact, return it unchanged in the second list.
    """
    head, colon, tail = piece.text.partition(":")
    tag = labels.label_tag(head) if colon else None
    value = tail.strip()
    part = piece.cut(len(head) + 1, len(piece.text))
    if tag is None or part is None or not value:
        return [], [piece]
    single = _MISREAD_MAIL.fullmatch(value) is not None and any(map(str.isalpha, value))
    digits = sum(map(str.isdecimal, value))
    number = digits >= max(settings.FEWEST_DIGITS, sum(map(str.isalpha, value)))
    numbers = tag in labels.NUMBERS and number
    if numbers or (tag in (labels.EMAIL, labels.WEBSITE) and single):
        return [EntityMatch(tag, value, settings.MISREAD_ENTITY, (part,))], []
    return [], [piece]
