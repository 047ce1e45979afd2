"""Reads the JSON files with facts about installed models: title, digest, licence, sizes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def read_facts(file: Path) -> Mapping[str, Any]:
    """Return the content of a facts file; empty if it cannot be read."""
    try:
        facts = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
