"""Finds names and addresses that are printed without captions on cards and pay statements.

As on an envelope, the name is above the street, and the town with its postcode is last. If a card
has two lines of names, the family name is first. A pay statement has two such blocks: first the
firm, then the person.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.engines.ocr.forms import settings
from chalicelib.engines.ocr.forms.caption_words import looks_like_label
from chalicelib.engines.ocr.forms.fragments import FormFragment
from chalicelib.engines.ocr.forms.segments import LineSegment
from chalicelib.engines.ocr.kinds.address import address_confidence
from chalicelib.engines.ocr.kinds.organisation import organisation_confidence
from chalicelib.engines.ocr.kinds.span import word_set

# Entities of a template for a card with a holder.
CARD = frozenset(("license_number", "first_name", "last_name", "address"))
# Entities of a template for a pay statement.
PAY = frozenset(("employer", "employer_address", "employee_name", "employee_address"))
# The last line of a block: a town or state, and a postcode.
_TOWN = re.compile(r"(?=.{0,80}[A-Za-z]{2}).{2,80}?\b\d{5,6}(?:-\d{4})?\.?")
_NAME = re.compile(r"[^\W\d_][\w .,'’&/()-]{1,60}")
_SUFFIXES = word_set("jr sr ii iii iv")


@dataclass(frozen=True, slots=True)
class HolderBlock:
    """The lines of an address, with the name above them."""

    names: tuple[LineSegment, ...]
    """Lines of the name, from the top; may be empty."""
    address: tuple[LineSegment, ...]
    """Lines of the address, from the top."""

    @property
    def name(self) -> str:
        """Text of the last line in `names`; empty if there is none."""
        return self.names[-1].text if self.names else ""


def find_holders(
    entities: Collection[str], values: Mapping[str, str], fragments: Sequence[FormFragment]
) -> dict[str, tuple[LineSegment, ...]]:
    """Find name and address of a card's holder, or of the firm and person of a pay statement.

    `values` has the values that were found next to captions. The result has the segments of the
    other entities. It is empty unless `entities` has all those of a card or pay statement.
    """
    wanted = set(entities)
    if not (wanted >= CARD or wanted >= PAY):
        return {}
    blocks = _find_blocks(fragments)
    found = _card(blocks, values) if wanted >= CARD else _pay(blocks, values)
    return {entity: parts for entity, parts in found.items() if parts and not values.get(entity)}


def _find_blocks(fragments: Sequence[FormFragment]) -> list[HolderBlock]:
    segments = sorted((each.segment for each in fragments), key=lambda each: each.rect.min_y)
    towns = [number for number, each in enumerate(segments) if _TOWN.fullmatch(each.text)]
    few = towns if len(towns) <= settings.MOST_ALIKE else []
    return [_block_above(number, segments) for number in few]


def _block_above(town: int, segments: Sequence[LineSegment]) -> HolderBlock:
    """Return the address whose last line is the segment `town`, with the name above it."""
    lines = [segments[town]]
    for segment in reversed(segments[:town]):
        if _is_next(segment, lines[0]):
            lines.insert(0, segment)
    street = _street(lines)
    above = lines[max(0, street - settings.HOLDER_NAME_LINES) : street]
    names = [one for one in above if _NAME.fullmatch(one.text) and not looks_like_label(one.text)]
    return HolderBlock(tuple(names), tuple(lines[street:]))


def _is_next(upper: LineSegment, lower: LineSegment) -> bool:
    height = min(upper.height, lower.height)
    gap = (lower.rect.min_y - upper.rect.max_y) / height
    return (
        -settings.OVERLAP_HEIGHTS < gap < settings.PRINTED_LINE_GAP_HEIGHTS
        and abs(upper.rect.min_x - lower.rect.min_x) < settings.HEADER_OFFSET_HEIGHTS * height
    )


def _street(lines: Sequence[LineSegment]) -> int:
    """Return the index of the first address line. The last of `lines` is the town."""
    first = len(lines) - 1
    while first and _is_of_address(lines[first - 1].text):
        first -= 1
    return first


def _is_of_address(text: str) -> bool:
    return (
        any(map(str.isdecimal, text))
        or text.rstrip().endswith(",")
        or address_confidence(text) >= settings.STREET_CERTAINTY
    )


def _card(
    blocks: Sequence[HolderBlock], values: Mapping[str, str]
) -> dict[str, tuple[LineSegment, ...]]:
    """Return family name, given names and address from the first address block of a card."""
    if not blocks:
        return {}
    block = blocks[0]
    captioned = {values.get("first_name"), values.get("last_name")} - {None, ""}
    names = [line for line in block.names if line.text not in captioned]
    if captioned:
        rest = names[-1:] if len(block.names) > 1 else []
        missing = "first_name" if values.get("last_name") else "last_name"
        return {missing: tuple(rest), "address": block.address}
    if not names:
        return {"address": block.address}
    if len(names) > 1:
        return {"last_name": (names[0],), "first_name": (names[1],), "address": block.address}
    first, last = _parts_of_name(names[0])
    return {"first_name": first, "last_name": last, "address": block.address}


def _parts_of_name(line: LineSegment) -> tuple[tuple[LineSegment, ...], tuple[LineSegment, ...]]:
    """Split a line into given names and family name.

    The family name is last, or first if a comma follows it.
    """
    text = line.text
    if "," in text:
        at = text.index(",")
        return (line.part(at + 1, len(text)),), (line.part(0, at),)
    words = text.split()
    count = 2 if len(words) > 2 and words[-1].strip(".").casefold() in _SUFFIXES else 1
    if len(words) <= count:
        return (), (line,)
    at = len(text) - len(" ".join(words[-count:]))
    return (line.part(0, at),), (line.part(at, len(text)),)


def _pay(
    blocks: Sequence[HolderBlock], values: Mapping[str, str]
) -> dict[str, tuple[LineSegment, ...]]:
    """Return the firm's and the person's name and address, from the first two address blocks."""
    distinct: dict[str, HolderBlock] = {}
    for block in blocks:
        if block.names:
            distinct.setdefault(block.name.casefold(), block)
    person = distinct.get(values.get("employee_name", "").casefold())
    firm = distinct.get(values.get("employer", "").casefold())
    others = [each for each in distinct.values() if each not in (person, firm)]
    if firm is None and others:
        best = max(others, key=lambda each: organisation_confidence(each.name))
        is_firm = organisation_confidence(best.name) >= settings.FIRM_CERTAINTY
        if is_firm or person is not None or len(others) > 1:
            firm = best if is_firm else others[0]
            others.remove(firm)
    if person is None and firm is not None and others:
        person = others[0]
    return {
        "employer": firm.names[-1:] if firm else (),
        "employer_address": firm.address if firm else (),
        "employee_name": person.names[-1:] if person else (),
        "employee_address": person.address if person else (),
    }
