"""Splits U.S. addresses into their parts, for the member normalizedText (contract, section 6).

Only texts with a state and a ZIP code are split.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import usaddress

from chalicelib.engines.ocr.kinds.address import DIRECTIONS, STREET_WORDS, STRONG_UNITS
from chalicelib.engines.ocr.kinds.postcode import find_state_zips, is_country, state_code
from chalicelib.engines.ocr.kinds.span import word_set

_LONGEST = 400
_CITY = "PlaceName"
_NO_STREET = frozenset(("StateName", "ZipCode", "CountryName", "Recipient", "NotAddress"))
_STREET_ENDS = word_set(
    """
    AddressNumber StreetName StreetNamePostType StreetNamePostDirectional OccupancyIdentifier
    USPSBoxID USPSBoxGroupID SubaddressIdentifier
    """
)
_TOWN_HEADS = word_set(
    """
    lake fort ft port mount saint st spring springs glen hill hills island rock park pine oak grand
    cape forest valley point beach bay river harbor key falls union ridge
    """
)
_TOWN_STARTS = word_set("lake fort ft port mount saint st glen new north south east west")
_TYPES = STREET_WORDS - STRONG_UNITS - DIRECTIONS
_CODE = re.compile(r"\d{5}(?:-\d{4})?$")
_COUNTRY_AT_MOST = 4
_STATES_AND_CITIES = ("new york", "washington")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of an address, without commas."""

    text: str
    """Text of the word."""
    label: str
    """Kind of word, as assigned by the library usaddress."""
    is_glued: bool
    """Whether the word directly follows the previous one, without a space."""
    ends_part: bool
    """Whether a comma follows."""


def normalized_address(text: str) -> str | None:
    """Return the parts of a U.S. address as a JSON object; None for any other text.

    The parts are Street, City, State, ZipCode and Country; empty parts are left out. Line breaks
    count as commas. State is an abbreviation, the other parts are as read.
    """
    line = ", ".join(
        " ".join(part.split()).rstrip(" ,") for part in text.splitlines() if part.strip()
    )
    places = find_state_zips(line) if len(line) <= _LONGEST else ()
    if len(places) != 1:
        return None
    place = places[0]
    code = _CODE.search(place.text)
    if code is None:
        return None
    words = _words_before(line[: place.start] + place.text + line[place.end :], place.start)
    street, city = _street_and_city(words)
    state = place.text[: code.start()].strip(" ,.-")
    # New York can be both city and state: "350 5th Ave, New York 10118".
    parts = {
        "Street": _joined(street),
        "City": _joined(city) or (state if state.lower() in _STATES_AND_CITIES else ""),
        "State": state_code(state) or "",
        "ZipCode": code.group(),
        "Country": _country(line[place.end :]),
    }
    return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False)


def _words_before(line: str, end: int) -> list[_Word]:
    """Parse the part of an address before the state, and return its words."""
    words: list[_Word] = []
    last = 0
    for token, label in usaddress.parse(line):
        start = line.find(token, last)
        if start < 0 or start >= end:
            break
        shown = token.strip(",;")
        if shown:
            words.append(_Word(shown, label, start == last > 0, token[-1] in ",;"))
        last = start + len(token)
    return words


def _street_and_city(words: list[_Word]) -> tuple[list[_Word], list[_Word]]:
    """Split words into street and city; the city is at the end."""
    start = len(words)
    while start and words[start - 1].label == _CITY:
        start -= 1
    if start == len(words):
        start = _after_last_comma(words)
    head, city = words[:start], words[start:]
    if len(city) > 1 and _is_street_type(head, city[0], city[1]):
        head, city = [*head, city[0]], city[1:]
    return [word for word in head if word.label not in _NO_STREET], city


def _after_last_comma(words: list[_Word]) -> int:
    """Return the index of the word after the last comma.

    Return `len(words)` if there is no comma, or if any word after the last comma has a digit.
    """
    for place in range(len(words) - 2, -1, -1):
        if words[place].ends_part:
            rest = words[place + 1 :]
            plain = not any(char.isdecimal() for word in rest for char in word.text)
            return place + 1 if plain else len(words)
    return len(words)


def _is_street_type(head: list[_Word], word: _Word, following: _Word) -> bool:
    """Return whether a word that was labelled as city is a street type, such as `Ave`."""
    folded = word.text.lower().rstrip(".")
    if not head or head[-1].ends_part or head[-1].label not in _STREET_ENDS:
        return False
    if head[-1].label != "StreetName" or folded not in _TYPES:
        return False
    return folded not in _TOWN_HEADS or following.text.lower().rstrip(".") in _TOWN_STARTS


def _joined(words: list[_Word]) -> str:
    """Join words with the spaces that were between them."""
    return "".join(
        word.text if place == 0 or word.is_glued else f" {word.text}"
        for place, word in enumerate(words)
    )


def _country(tail: str) -> str:
    """Return the country in `tail`, the text after a ZIP code; empty if there is no country."""
    name = tail.strip(" ,;.-") if len(tail.split()) <= _COUNTRY_AT_MOST else ""
    return tail.strip(" ,;-") if is_country(name) else ""
