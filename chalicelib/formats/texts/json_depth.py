"""How deeply JSON is nested, told by its text, before or beside the parser.

Parsers stop at the interpreter's own limit, which differs between its versions: 1,000 levels on
Python 3.11, 10,000 on 3.13. What the service takes does not depend on that.
"""

from __future__ import annotations

import re

MAX_DEPTH = 64
"""Most arrays and objects inside each other; nothing that the service takes has more than 8."""

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
