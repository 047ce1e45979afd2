"""Loads an installed PP-OCRv6 folder: two networks, the recogniser's alphabets, engine.json.

infra/model_files writes these files.
"""

from __future__ import annotations

import json
from pathlib import Path

from chalicelib.engines.memory import bound_memory
from chalicelib.engines.ocr.interface import PPOCR, check_files
from chalicelib.engines.ocr.ppocr.detector import Detector
from chalicelib.engines.ocr.ppocr.engine import PpOcr
from chalicelib.engines.ocr.ppocr.recogniser import Recogniser
from chalicelib.engines.onnx_session import open_session

# Files whose digests are in engine.json.
FILES = ("detector.onnx", "recogniser.onnx", "alphabet.json", "latin.json")


def load_ppocr(folder: Path) -> PpOcr:
    """Load the engine from its folder.

    Args:
        folder: folder with FILES, and `engine.json` with their digests.

    Returns:
        The engine; safe to share between threads.

    Raises:
        OcrNotInstalled: a file is missing, or differs from the installed one.
    """
    check_files(folder, FILES, PPOCR)
    alphabets = [tuple(json.loads((folder / name).read_bytes())) for name in FILES[2:]]
    bound_memory()
    # Pages and lines have all sizes, so no memory plan would be used again.
    detector = Detector(open_session(folder / FILES[0], has_patterns=False))
    recogniser = Recogniser(open_session(folder / FILES[1], has_patterns=False), alphabets)
    return PpOcr(detector, recogniser)
