"""What every text engine offers (ppocr/, tesseract/), and the check of its installed files.

Coordinates are pixels of the raster that is passed in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels, Singles
    from chalicelib.domain.documents.page import Quad, TextLine

    Steps = Singles
    from pathlib import Path


# Returns while work can continue; raises when the time is up. Called about every second.
CancelCheck = Callable[[], None]


def never_cancel() -> None:
    """Return without an error: a CancelCheck without a deadline."""


PPOCR = "ppocr"
# Names of the engines, as PRESAGE_OCR_ENGINE takes them.
TESSERACT = "tesseract"


class OcrNotInstalled(FileNotFoundError):
    """The files of an engine are missing or damaged."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The OCR engine {name} is not installed. Install it with: "
            "python -m infra.models install"
        )
        self.name = name


class TextEngine(Protocol):
    """Finds and reads text; safe to share between threads."""

    @property
    def name(self) -> str:
        """PPOCR or TESSERACT."""

    def in_alphabet(self, alphabet: str) -> TextEngine:
        """Return an engine of the same networks that answers with the letters of an alphabet."""

    def read(self, pixels: Pixels, check: CancelCheck) -> tuple[TextLine, ...]:
        """Find and read every text line of a page, in reading order.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).
            check: see Check.

        Returns:
            Lines of visible characters of the engine's alphabet, and lines without text where
            text was found but not read; none for a blank page.

        Raises:
            OcrNotInstalled: the engine's files are missing or damaged.
        """

    def read_crops(
        self, pixels: Pixels, quads: Sequence[Quad], check: CancelCheck
    ) -> tuple[TextLine | None, ...]:
        """Read places that are known to hold one line each, without looking for text.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).
            quads: corners of each place as it is read.
            check: see Check.

        Returns:
            One line for each place; None where nothing was read.

        Raises:
            OcrNotInstalled: the engine's files are missing or damaged.
        """


@runtime_checkable
class ScoringEngine(Protocol):
    """A text engine that also says what else a place may hold; safe to share between threads."""

    def score_crops(
        self, pixels: Pixels, quads: Sequence[Quad], letters: str, check: CancelCheck
    ) -> tuple[Steps, ...]:
        """Score the characters at places that are known to hold one line each.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).
            quads: corners of each place as it is read.
            letters: what may stand there, in capitals; small letters count for them.
            check: see Check.

        Returns:
            For each place the probabilities of no character (the blank of connectionist temporal
            classification) and of each letter, from left to right, float32, shape
            (steps, 1 + letters); each step sums to 1.

        Raises:
            OcrNotInstalled: the engine's files are missing or damaged.
        """


# Checks that an engine's files are the ones that were installed.

# The card: `files` names size and `sha256` of each file.
CARD = "engine.json"


def check_files(folder: Path, names: Sequence[str], engine: str) -> None:
    """Compare files with the digests in the card of their folder.

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
