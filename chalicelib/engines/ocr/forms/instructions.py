"""Recognises instructions that are printed on forms: they are not values, and they end a key."""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(
    r"(?:\W?\d{1,2}[a-z]?\W? )?"
    r"(?:If|Enter|Attach|Check|See|Go to|Add|Subtract|Multiply|Complete|Do not)"
    r"(?: [\w'’().,/-]+){3}"
    r"|\(?[Ss]ee (?:page|instructions?|notes?|reverse|back|below|line)\b"
)


def is_instruction(text: str) -> bool:
    """Return whether a text begins like an instruction on a form."""
    return _INSTRUCTION.match(text) is not None
