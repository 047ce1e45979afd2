"""Ids in paths and bodies: digits below 2^63, or the same 404 as for an unknown id."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.errors import NotFound

MAX_ID = 2**63
SHOWN = 100
"""Characters of an unknown id that its 404 repeats."""

_DIGITS = re.compile(r"[0-9]{1,19}", re.ASCII)
_TEXT = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)


def number(sent: str, unknown: Callable[[object], NotFound]) -> int:
    """Read an integer id of a path.

    Raises:
        NotFound: it can be no id; the same answer as for one that does not exist.
    """
    if not _DIGITS.fullmatch(sent) or int(sent) >= MAX_ID:
        raise unknown(sent[:SHOWN])
    return int(sent)


def sent_number(
    values: Mapping[str, Any], name: str, unknown: Callable[[object], NotFound]
) -> int | None:
    """Read an integer id of a body or query, or None when validation will refuse it.

    Raises:
        NotFound: it is a whole number, but can be no id.
    """
    value = values.get(name)
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value, re.ASCII):
        return number(value, unknown)
    if isinstance(value, int) and not isinstance(value, bool):
        return number(str(value), unknown)
    return None


def sent_text(values: Mapping[str, Any], name: str) -> str | None:
    """Read a string id of a body, or None when validation will refuse it."""
    value = values.get(name)
    return value if isinstance(value, str) else None


def text(sent: str, unknown: Callable[[object], NotFound]) -> str:
    """Read a string id.

    Raises:
        NotFound: it can be no id; the same answer as for one that does not exist.
    """
    if not _TEXT.fullmatch(sent):
        raise unknown(sent[:SHOWN])
    return sent
