"""Sentences that tell whoever fills in a form what to do: they are no values, and end a key."""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(
    r"(?:\W?\d{1,2}[a-z]?\W? )?"
    r"(?:If|Enter|Attach|Check|See|Go to|Add|Subtract|Multiply|Complete|Do not)"
    r"(?: [\w'’().,/-]+){3}"
)


def is_instruction(text: str) -> bool:
    """Return whether a text begins as such sentences do."""
    return _INSTRUCTION.match(text) is not None
