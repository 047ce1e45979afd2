"""Guesses the code page of file names in a zip archive if the names are not UTF-8.

Old tools encode names in the code page of their system, and do not store the name of the code page.
One code page is guessed for all names of an archive. If no code page is clearly the best, code page
437 is used, as the zip format defines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.formats.texts.code_pages import rank_code_pages, rank_rivals, take_sample

DEFAULT = "cp437"
_CANDIDATES = (
    *("cp1252", "cp850", "cp852", "cp857", "cp1250", "cp1254"),
    *("cp775", "cp1257", "cp866", "cp1251", "cp737", "cp1253", "cp862", "cp874"),
    *("cp861", "cp932", "gb18030", "big5", "cp949"),
)
# These are too similar to others to be guessed from few names; messages name them as possible.
_OTHERS = ("cp860", "cp863")
_MOST_RIVALS = 3
_ENDING = re.compile(rb"\.[A-Za-z0-9]{1,5}$")


@dataclass(frozen=True, slots=True)
class NameGuess:
    """A guess of the code page of file names in an archive."""

    encodings: tuple[str, ...] = (DEFAULT,)
    """The guessed code page, then up to three other possible code pages."""
    sample: bytes = b""
    """A name that each code page decodes differently; empty if nothing had to be guessed."""

    def describe(self) -> str:
        """Return a phrase that names each possible code page, and shows `sample` decoded by it."""
        first, *others = (
            f"{name} ('{self.sample.decode(name, 'replace')[:40]}')" for name in self.encodings
        )
        return first + (f", but could also be {' or '.join(others)}" if others else "")


NO_GUESS = NameGuess()


def guess_name_encoding(names: Iterable[bytes]) -> NameGuess:
    """Guess the code page of names that are not UTF-8; `cp437` if no code page is clearly best."""
    # Nearly all files end in plain letters.
    judged = list(take_sample(_ENDING.sub(b"", name) for name in names))
    parts = [part for name in judged for part in re.split(rb"[/\\]", name) if not part.isascii()]
    if not parts:
        return NO_GUESS
    found = rank_code_pages(judged, (DEFAULT, *_CANDIDATES))[0]
    rivals = rank_rivals(judged, (found, DEFAULT, *_CANDIDATES, *_OTHERS))[:_MOST_RIVALS]

    def differs(part: bytes) -> list[bool]:
        return [part.decode(name, "replace") != part.decode(found, "replace") for name in rivals]

    return NameGuess((found, *rivals), max(parts, key=differs))
