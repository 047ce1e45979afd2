"""Makes names of labels and files valid and unique in an archive."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from chalicelib.formats.archives.zip_directory import find_path_problem, is_junk

_LOOK_ALIKES = str.maketrans(
    {"/": "\N{DIVISION SLASH}", "\\": "\N{SET MINUS}"}
    | dict.fromkeys(map(chr, (*range(0x20), *range(0x7F, 0xA0))), "\N{REPLACEMENT CHARACTER}")
)
_DRIVE = re.compile(r"(?<=\A[A-Za-z]):")


def as_step(name: str) -> str:
    """Convert a name to a valid file or folder name; a valid name is returned unchanged.

    Args:
        name: Name of a label or file as stored; not empty.
    """
    step = _DRIVE.sub("\N{MODIFIER LETTER COLON}", name.translate(_LOOK_ALIKES))
    if step.startswith("."):
        step = "\N{ONE DOT LEADER}" + step[1:]
    if is_junk(step) or find_path_problem(step):
        step = f"_{step}_"
    return step


class FreeNames:
    """Makes file names unique by appending a number to a name that is already in use."""

    def __init__(self, *, by_stem: bool = False) -> None:
        """Create an empty set of names.

        Args:
            by_stem: Whether `a.png` and `a.jpg` are treated as the same name, because both images
                would have their boxes in `a.txt` or `a.xml`.
        """
        self._by_stem = by_stem
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def take(self, name: str) -> str:
        """Return `name`, with a number added if the name is already in use. Case is ignored."""
        first, extension = _split(name)
        chosen, number = name, self._last.get(self._key(name), 1)
        while self._key(chosen) in self._taken:
            number += 1
            chosen = f"{first}-{number}{extension}"
        self._last[self._key(name)] = number
        self._taken.add(self._key(chosen))
        return chosen

    def _key(self, name: str) -> str:
        return (_split(name)[0] if self._by_stem else name).casefold()


def stem(name: str) -> str:
    """Return a file name without its extension."""
    return _split(name)[0]


def _split(name: str) -> tuple[str, str]:
    extension = PurePosixPath(name).suffix
    return name.removesuffix(extension), extension
