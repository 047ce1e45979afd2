"""Internet addresses: with or without scheme and www, as they are read."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.domains import COUNTRIES, GENERIC, is_ending
from chalicelib.engines.ocr.kinds.span import Span
from chalicelib.engines.ocr.kinds.word_set import word_set

_SCHEME = re.compile(r"h?ttps? ?[:;] ?/{1,2} ?(?=[A-Za-z0-9])", re.IGNORECASE)
_WWW = re.compile(
    r"(?<![A-Za-z0-9@])(?:[wW]{3,4}|[vV]{2}[wW]{2}|[wW]{2}[vV]{2}[wW]?) ?[.,·:] ?(?=[A-Za-z0-9])"
)
_NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_\-]{0,62}(?: ?[.,] ?[A-Za-z0-9][A-Za-z0-9_\-]{0,62}){0,6}"
)
_BARE = re.compile(
    r"(?<![A-Za-z0-9@._%+\-/])[A-Za-z0-9][A-Za-z0-9\-]{0,62}"
    r"(?:\.[A-Za-z0-9][A-Za-z0-9\-]{0,62}){1,4}(?![A-Za-z0-9@_])"
)
_PATH = re.compile(r"(?::\d{2,5})?(?:/[^\s|•<>\"]{0,200})?")
_PART = re.compile(r" ?[.,] ?")
_SHORT_NAME = 3
_SHORT_COUNTRY_NAME = 4
_NAMES_OF_THINGS = word_set("asp.net vb.net node.js ph.d")


def find_websites(text: str) -> tuple[Span, ...]:
    """Return the internet addresses of a line in its order; labels and mails not included."""
    spans: list[Span] = []
    for pattern, sureness in ((_SCHEME, 0.99), (_WWW, 0.99)):
        for match in pattern.finditer(text):
            _add(spans, _marked(text, match, sureness))
    for match in _BARE.finditer(text):
        _add(spans, _bare(text, match))
    return tuple(sorted(spans, key=lambda span: span.start))


def _add(spans: list[Span], span: Span | None) -> None:
    """Add a span unless there is none or it is part of one that was found before."""
    if span is not None and not any(span.meets(other) for other in spans):
        spans.append(span)


def _marked(text: str, match: re.Match[str], sureness: float) -> Span | None:
    """Return the address after a scheme or after www."""
    name = _NAME.match(text, match.end())
    if name is None:
        return None
    parts = _joined(name.group())
    end = match.end() + len(parts)
    path = _path_after(text, end)
    head = match.group().replace(" ", "").replace(",", ".").replace("·", ".").replace(";", ":")
    if match.re is _WWW:
        head = head[:-1] + "."
    said = head + _mended(parts) + path
    return Span(match.start(), end + len(path), said, sureness)


def _joined(name: str) -> str:
    """Cut a name before words that only stand behind it: `acme.com, Berlin` gives `acme.com`."""
    end = len(name)
    place = 0
    parts = [part for part in _PART.split(name) if part]
    for count, part in enumerate(parts):
        place = name.index(part, place) + len(part)
        rest = name[place:]
        follows = parts[count + 1] if count + 1 < len(parts) else ""
        loose = not rest.startswith(".") or rest.startswith(". ")
        whole = count > 0 and is_ending(part) and part.lower() not in ("co", "com")
        if loose and rest and (whole or not is_ending(follows)) and count > 0:
            end = place
            break
    return name[:end]


def _mended(name: str) -> str:
    """Return a name with dots for commas and without spaces."""
    return _PART.sub(".", name)


def _bare(text: str, match: re.Match[str]) -> Span | None:
    """Return a name without any mark, when its ending and its length speak for it."""
    name = match.group()
    labels = name.split(".")
    ending = labels[-1].lower()
    if name.lower() in _NAMES_OF_THINGS or not _can_be_name(name, labels[-2], ending):
        return None
    path = _path_after(text, match.end())
    sureness = 0.95 if ending in ("com", "net", "org", "edu", "gov", "io") or path else 0.85
    return Span(match.start(), match.end() + len(path), name + path, sureness)


def _can_be_name(name: str, owner: str, ending: str) -> bool:
    """Tell a name from abbreviations and from sentences without a space: `St.Louis`."""
    has_letters = any(char.isalpha() for char in owner)
    even = name == name.lower() or name == name.upper() or name.rpartition(".")[2].islower()
    if not has_letters or not even:
        return False
    if ending in GENERIC:
        return len(owner) >= _SHORT_NAME or ending in ("com", "net", "org")
    return ending in COUNTRIES and (len(owner) >= _SHORT_COUNTRY_NAME or name.count(".") > 1)


def _path_after(text: str, end: int) -> str:
    """Return port and path after a name."""
    path = _PATH.match(text, end)
    found = path.group() if path else ""
    return found.rstrip(".,;:)]}!?")
