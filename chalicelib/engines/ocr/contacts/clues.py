"""Finds the names of a person and an organisation in mail and web addresses of a card."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from rapidfuzz import fuzz

from chalicelib.engines.ocr.contacts import settings
from chalicelib.engines.ocr.kinds.internet import main_label
from chalicelib.engines.ocr.kinds.organisation import LEGAL_FORMS
from chalicelib.engines.ocr.kinds.person import without_credentials
from chalicelib.engines.ocr.kinds.span import WORD_LISTS, folded_words, word_set

_PROVIDERS = word_set(WORD_LISTS["MAIL_PROVIDER"])
_ROLES = word_set(WORD_LISTS["MAIL_ROLE"])
_SCHEME = re.compile(r"h?ttps?[:;]/{1,2}", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class Clues:
    """Parts of mail and web addresses that may contain names, in lower case."""

    owners: tuple[str, ...]
    """Part of each domain name that identifies its owner: `acme`. Mail providers are left out."""
    locals: tuple[str, ...]
    """Part of each mail address before the at sign, except names of roles such as info."""

    def organisation(self, text: str) -> float:
        """Return how well a text matches the owner's name in any domain name, 0 to 1."""
        return max((_owner_fit(text, owner) for owner in self.owners), default=0.0)

    def person(self, text: str) -> float:
        """Return how well a name matches the local part of any mail address, 0 to 1."""
        name, _ = without_credentials(text)
        words = [word for word in map(_plain, folded_words(name)) if word]
        return max((_local_fit(words, local) for local in self.locals), default=0.0)


def clues_of(mails: Iterable[str], sites: Iterable[str]) -> Clues:
    """Return the names in the mail and web addresses of a page."""
    owners: list[str] = []
    local_parts: list[str] = []
    for mail in mails:
        local, _, name = mail.lower().rpartition("@")
        owners.append(main_label(name))
        if local and _plain(local) not in _ROLES:
            local_parts.append(local)
    for site in sites:
        name = _SCHEME.sub("", site.lower()).partition("/")[0]
        owners.append(main_label(name))
    kept = dict.fromkeys(_plain(owner) for owner in owners if owner not in _PROVIDERS)
    return Clues(tuple(owner for owner in kept if owner), tuple(dict.fromkeys(local_parts)))


def _plain(text: str) -> str:
    return _NOT_LETTERS.sub("", text.lower())


def _owner_fit(text: str, owner: str) -> float:
    """Return how well a text matches a domain owner: 1 if equal, less if only partly equal."""
    words = [word for word in map(_plain, folded_words(text)) if word]
    core = [word for word in words if word not in LEGAL_FORMS] or words
    whole = "".join(core)
    if not whole:
        return 0.0
    if whole == owner or "".join(words) == owner:
        return 1.0
    large = [word for word in core if word not in _SMALL]
    initials = ["".join(word[0] for word in some) for some in (core, large)]
    is_long = len(whole) >= settings.SHORTEST_OWNER
    if (
        (is_long and fuzz.ratio(whole, owner) >= settings.ALIKE_RATIO)
        or (is_long and owner.startswith(whole))
        or (len(owner) > settings.SHORT_OWNER and whole.startswith(owner))
        or (len(owner) >= settings.SHORTEST_OWNER and owner in accumulate(large))
        or (len(owner) > 1 and owner in initials)
    ):
        return settings.PART_FITS
    is_in = any(len(word) > settings.SHORTEST_OWNER and word in owner for word in core)
    return settings.ONE_WORD_FITS if is_in else 0.0


_SMALL = word_set("and & of the for und et y de la")


def _local_fit(words: list[str], local: str) -> float:
    """Return how well the words of a name match the local part of a mail address, 0 to 1."""
    parts = [part for part in re.split(r"[._\-+0-9]+", local) if part]
    flat = "".join(parts)
    if not words or not flat:
        return 0.0
    if "".join(words) == flat:
        return 1.0
    long = [word for word in words if len(word) >= settings.SHORTEST_OWNER]
    hits = sum(
        word in parts or (len(word) > settings.SHORTEST_OWNER and word in flat) for word in long
    )
    if hits > 1 or (hits and flat in _short_forms(words)):
        return 1.0
    if hits or flat in _short_forms(words):
        return settings.PART_FITS
    close = max((fuzz.ratio(word, part) for word in long for part in parts), default=0.0)
    return settings.PART_FITS if close >= settings.ALIKE_RATIO else 0.0


def _short_forms(words: list[str]) -> set[str]:
    first, last = words[0], words[-1]
    return {
        first[0] + last,
        first + last[0],
        last + first[0],
        last[0] + first,
        "".join(word[0] for word in words),
        first[0] + "".join(word[0] for word in words[1:-1]) + last,
    }
