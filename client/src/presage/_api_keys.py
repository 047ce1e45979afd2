"""Recognises API keys, reads them from files, and hides them in texts."""

from __future__ import annotations

import re
from pathlib import Path

PREFIX = "pk_"
_FORM = re.compile(PREFIX + r"[A-Za-z0-9_-]{43}")


def hide_keys(text: str) -> str:
    """Return a text in which API keys are hidden."""
    return _FORM.sub(f"{PREFIX}…", text)


def is_api_key(text: str) -> bool:
    """Return whether a text has the form of an API key."""
    return _FORM.fullmatch(text.strip()) is not None


def find_api_key(path: str | Path) -> str | None:
    """Return the API key that a file contains; None if the file contains anything else.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        # A little more than a key, so that a large file given by mistake is not read.
        with Path(path).expanduser().open(encoding="ascii") as stream:
            text = stream.read(1024).strip()
    except UnicodeError:
        return None
    return text if is_api_key(text) else None
