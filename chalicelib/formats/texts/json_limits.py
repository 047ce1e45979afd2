"""How deeply JSON is nested and how much it holds, told by its text, before the parser.

Parsers stop at the interpreter's own limit, which differs between its versions: 1,000 levels on
Python 3.11, 10,000 on 3.13. What the service takes does not depend on that.
"""

from __future__ import annotations

import re

MAX_DEPTH = 64
"""Most arrays and objects inside each other; nothing that the service takes has more than 8."""

MAX_MEMBERS = 100_000
"""Most members of all arrays and objects: a few bytes each, but many times that once parsed."""
_OTHERS = re.compile(r"[^\[\]{}]+")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def is_too_deep(text: str | bytes) -> bool:
    """Tell whether JSON is nested more deeply than MAX_DEPTH; takes linear time.

    Args:
        text: JSON, bytes in UTF-8. Of what is none, the part before the first error counts
            rightly.

    Returns:
        True when some place lies inside more than MAX_DEPTH arrays and objects.
    """
    if isinstance(text, bytes):
        # In UTF-8 no byte of a longer character looks like a quote or a bracket.
        text = text.decode("latin-1")
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    # Outside of texts JSON has no backslashes, so every escape may go; then quotes alternate.
    plain = text.replace("\\\\", "").replace('\\"', "")
    depth = 0
    for part in plain.split('"')[::2]:
        for bracket in _OTHERS.sub("", part):
            depth += _STEPS[bracket]
            if depth > MAX_DEPTH:
                return True
    return False


def excess_of(text: bytes) -> str:
    """Say which limit a JSON body breaks; empty when it breaks none.

    Args:
        text: JSON in UTF-8. A member too many may be counted for each array and object.
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
