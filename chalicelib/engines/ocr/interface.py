"""Interface of text engines (ppocr/, tesseract/), and the check of their installed files.

Coordinates are pixels of the raster that is passed in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from chalicelib.commands import MODELS_COMMAND

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels, Singles
    from chalicelib.domain.documents.page import Quad, TextLine

    Steps = Singles
    from pathlib import Path

# Called about every second; raises when the time is up.
CancelCheck = Callable[[], None]


def never_cancel() -> None:
    """Do nothing. This is the CancelCheck of calls that have no deadline."""


PPOCR = "ppocr"
# Names of the engines in the setting PRESAGE_OCR_ENGINE.
TESSERACT = "tesseract"


class OcrNotInstalled(FileNotFoundError):
    """Raised if files of an engine are missing or damaged."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The OCR engine {name} is not installed. Install it with: {MODELS_COMMAND} install"
        )
        self.name = name


class TextEngine(Protocol):
    """Detects and recognises text; safe to share between threads."""

    @property
    def name(self) -> str:
        """Name of the engine: PPOCR or TESSERACT."""

    def in_alphabet(self, alphabet: str) -> TextEngine:
        """Return an engine that uses the same networks but outputs letters of another alphabet."""

    def read(self, pixels: Pixels, check: CancelCheck) -> tuple[TextLine, ...]:
        """Detect and recognise all text lines of a page, in reading order.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).
            check: called regularly; may raise an error to stop.

        Returns:
            Lines with characters of the engine's alphabet. A line has an empty text where text was
            detected but not recognised. The list is empty for a blank page.

        Raises:
            OcrNotInstalled: the engine's files are missing or damaged.
        """

    def read_crops(
        self, pixels: Pixels, quads: Sequence[Quad], check: CancelCheck
    ) -> tuple[TextLine | None, ...]:
        """Recognise the text in areas that contain one line each, without detection.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).
            quads: corners of each area in reading direction.
            check: called regularly; may raise an error to stop.

        Returns:
            One line for each area; None where nothing was recognised.

        Raises:
            OcrNotInstalled: the engine's files are missing or damaged.
        """


@runtime_checkable
class ScoringEngine(Protocol):
    """A thread-safe text engine that also returns probabilities of characters."""

    def score_crops(
        self, pixels: Pixels, quads: Sequence[Quad], letters: str, check: CancelCheck
    ) -> tuple[Steps, ...]:
        """Return the probability of each letter along areas that contain one line each.

        Args:
            pixels: RGB, uint8, shape (height, width, 3).
            quads: corners of each area in reading direction.
            letters: allowed characters, in capitals. A small letter on the page counts as its
                capital.
            check: called regularly; may raise an error to stop.

        Returns:
            One array for each area, float32, shape (steps, 1 + letters). Steps go from left to
            right, and each sums to 1. The first column is the probability of no character (the
            blank of connectionist temporal classification).

        Raises:
            OcrNotInstalled: the engine's files are missing or damaged.
        """


# Checks that an engine's files are the ones that were installed.

# Facts about an engine: `files` names size and `sha256` of each file.
CARD = "engine.json"


def check_files(folder: Path, names: Sequence[str], engine: str) -> None:
    """Compare files with the digests recorded when they were installed.

    Args:
        folder: folder that contains the files, and `engine.json` with their digests.
        names: names of the files.
        engine: name of the engine in the error.

    Raises:
        OcrNotInstalled: a file is missing, or differs from the installed one.
    """
    try:
        digests = json.loads((folder / CARD).read_bytes())["files"]
        for name in names:
            if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digests[name]["sha256"]:
                raise OcrNotInstalled(engine)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OcrNotInstalled(engine) from error
