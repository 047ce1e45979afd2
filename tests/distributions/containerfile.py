"""Reads the instructions of the Containerfile."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.parts import ROOT

CONTAINERFILE = ROOT / "Containerfile"


class Instruction(NamedTuple):
    """An instruction with its continued lines."""

    name: str
    """In capitals."""
    options: dict[str, str]
    """Options by name, without dashes."""
    text: str
    """All after the options."""


def instructions(text: str) -> list[Instruction]:
    """Read all instructions."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = []
    for line in filter(None, joined.splitlines()):
        name, rest = line.split(maxsplit=1)
        options = {}
        while option := re.match(r"--([\w-]+)=(\S+)\s+", rest):
            options[option[1]] = option[2]
            rest = rest[option.end() :]
        found.append(Instruction(name, options, rest))
    return found


def shipped() -> list[Instruction]:
    """Read the instructions of the file in the repository."""
    return instructions(CONTAINERFILE.read_text("utf-8"))
