"""Guesses the code page of file names in a zip archive that are not UTF-8.

Old tools write names in the code page of their system, and do not store which one it is. One code
page is guessed for all names of an archive. If none is clearly best, code page 437 is used, as the
zip format defines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from chalicelib.formats.texts.code_pages import has_rivals, rank_code_pages, take_sample

DEFAULT = "cp437"
_CANDIDATES = (
    *("cp1252", "cp850", "cp852", "cp857", "cp1250", "cp1254"),
    *("cp775", "cp1257", "cp866", "cp1251", "cp737", "cp1253", "cp862", "cp874"),
    *("cp861", "cp932", "gb18030", "big5", "cp949"),
)
_ENDING = re.compile(rb"\.[A-Za-z0-9]{1,5}$")


def guess_name_encoding(names: Iterable[bytes]) -> tuple[str, bool]:
    """Return the most likely code page of names that are not UTF-8; `cp437` if none is clear.

    Returns:
        The code page, and whether it is certain. Only `cp437` can be certain, if no other code
        page is as likely.
    """
    # Nearly all files end in plain letters.
    judged = list(take_sample(_ENDING.sub(b"", name) for name in names))
    found = rank_code_pages(judged, (DEFAULT, *_CANDIDATES))[0]
    return found, found == DEFAULT and not has_rivals(judged, (DEFAULT, *_CANDIDATES))
