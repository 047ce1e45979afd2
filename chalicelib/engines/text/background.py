"""The shipped texts that belong to hardly any model: what "none of my labels" looks like.

Written for this project, in many kinds: questions, chat, commands, news, reviews. A training that
may answer `[]` learns from them where its own texts end. See
chalicelib/engines/text/head/domain.py.
"""

from __future__ import annotations

from pathlib import Path

TEXTS = Path(__file__).parents[2] / "assets" / "background" / "texts.txt"
"""One text a line; lines that begin with # are headings."""


def background_texts() -> list[str]:
    """Read the background texts, in the order of the file."""
    lines = TEXTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]
