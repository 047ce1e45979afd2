"""Checks that an engine's files are the ones that were installed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.engines.ocr.interface import OcrNotInstalled

if TYPE_CHECKING:
    from pathlib import Path

CARD = "engine.json"
"""The card: `files` names size and `sha256` of each file."""


def check_files(folder: Path, names: Sequence[str], engine: str) -> None:
    """Compare files with the digests of the card beside them.

    Args:
        folder: holds the files and CARD.
        names: of the files.
        engine: named in the error.

    Raises:
        OcrNotInstalled: a file is missing, or is not the one that was installed.
    """
    try:
        digests = json.loads((folder / CARD).read_bytes())["files"]
        for name in names:
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digests[name]["sha256"]:
                raise OcrNotInstalled(engine)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OcrNotInstalled(engine) from error
