"""Rules of a single text that is added or asked about. Contract section 5, Limits."""

from __future__ import annotations

import re

from chalicelib.domain.common.limits import MAX_TEXT_CHARACTERS
from chalicelib.errors import InvalidParameter, MissingParameter

_SURROGATE = re.compile("[\ud800-\udfff]")


def checked_text(document: str, parameter: str = "document") -> str:
    """Return a text unchanged.

    Raises:
        MissingParameter: it is only white space.
        InvalidParameter: it is too long, or holds what cannot be stored.
    """
    if not document or document.isspace():
        raise MissingParameter(
            parameter, f"The '{parameter}' parameter is required and must hold more than spaces."
        )
    if len(document) > MAX_TEXT_CHARACTERS:
        raise InvalidParameter(
            parameter,
            f"it has {len(document)} characters, the limit is {MAX_TEXT_CHARACTERS}; shorten it.",
        )
    if "\x00" in document:
        raise InvalidParameter(parameter, "it holds a NUL character; remove it.")
    if not document.isascii() and _SURROGATE.search(document):
        raise InvalidParameter(parameter, "it holds half of a surrogate pair; send valid UTF-8.")
    return document
