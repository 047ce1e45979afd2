"""Checks nesting and size of JSON before it is parsed.

Parsers stop at a nesting limit that depends on the Python version: 1,000 levels in 3.11, 10,000 in
3.13. Which JSON the service accepts must not depend on the version.
"""

from __future__ import annotations

import re

# Limit of nested arrays and objects; no accepted document has more than 8.
MAX_DEPTH = 64

# Limit of members of all arrays and objects: each is a few bytes, and many times that when parsed.
MAX_MEMBERS = 100_000
_OTHERS = re.compile(r"[^\[\]{}]+")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def is_too_deep(text: str | bytes) -> bool:
    """Return whether JSON is nested more deeply than MAX_DEPTH. Takes linear time.

    In invalid JSON, the depth is exact only up to the first error.
    """
    if isinstance(text, bytes):
        # In UTF-8 no byte of a longer character looks like a quote or a bracket.
        text = text.decode("latin-1")
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    # Outside of texts JSON has no backslashes, so every escape can be removed; then quotes
    # alternate.
    plain = text.replace("\\\\", "").replace('\\"', "")
    depth = 0
    for part in plain.split('"')[::2]:
        for bracket in _OTHERS.sub("", part):
            depth += _STEPS[bracket]
            if depth > MAX_DEPTH:
                return True
    return False


def excess_of(text: bytes) -> str:
    """Return the limit that a JSON body exceeds, as a phrase for an error text; "" for none.

    The number of values is estimated. The estimate can be too high by one for each array or object.

    Args:
        text: JSON in UTF-8.
    """
    if is_too_deep(text):
        return f"is nested too deeply, in more than {MAX_DEPTH} arrays and objects."
    if text.count(b",") + text.count(b"[") + text.count(b"{") <= MAX_MEMBERS:
        return ""
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Outside of texts each member but the first of its array or object has a comma before it.
    outside = b"".join(plain.split(b'"')[::2])
    if outside.count(b",") + outside.count(b"[") + outside.count(b"{") <= MAX_MEMBERS:
        return ""
    return f"has more than {MAX_MEMBERS:,} members in its arrays and objects; send fewer."
