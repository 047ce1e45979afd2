"""Loads the installed networks that read text and tables, once for all calls.

infra/models.py installs the folders `ppocr` and `slanet`, each with an `engine.json`. The second
text engine, Tesseract, is a program from a Python package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from chalicelib.domain.documents.characters import DOCUMENTED
from chalicelib.domain.models.model_files import INSTALLED_ONLY, ModelSource
from chalicelib.engines.facts import read_facts
from chalicelib.engines.ocr.interface import PPOCR, TESSERACT, OcrNotInstalled, TextEngine

if TYPE_CHECKING:
    from chalicelib.engines.ocr.tables.structure import StructureModel

# The network that recognises the structure of a table.
SLANET = "slanet"
# Written by the installation, last of a network's files.
FACTS_FILE = "engine.json"
_FILES = {
    PPOCR: ("detector.onnx", "recogniser.onnx", "alphabet.json", "latin.json"),
    SLANET: ("model.onnx", "tokens.json"),
}


@dataclass(frozen=True)
class EngineFacts:
    """Name, version and licence of an installed engine."""

    name: str
    """Name of the engine: PPOCR, TESSERACT or SLANET."""
    title: str
    """Name given by the authors of a network; for a program, name and version."""
    sha256: str
    """SHA-256 of the network's files, or of a program's language data, 64 hex digits."""
    licence: str
    """SPDX identifier of the licence."""


class OcrPool:
    """Loads each network at its first use; safe to share between threads."""

    def __init__(
        self, model_dir: Path, engine_name: str, source: ModelSource = INSTALLED_ONLY
    ) -> None:
        """Create a pool that has not loaded any network.

        Args:
            model_dir: the model directory.
            engine_name: engine named in the settings, PPOCR or TESSERACT.
            source: where to download folders that are not installed.
        """
        self._directory = Path(model_dir)
        self._source = source
        self._wanted = engine_name
        self._engines: dict[str, TextEngine] = {}
        self._structure: StructureModel | None = None
        self._lock = Lock()

    @property
    def engine_name(self) -> str | None:
        """The engine in use, PPOCR or TESSERACT; None if no engine can be used.

        It is the engine of the settings. If PP-OCR is not installed, Tesseract replaces it.
        """
        if self._wanted in self._engines:
            return self._wanted
        if self._wanted == PPOCR and self.is_installed(PPOCR):
            return PPOCR
        return TESSERACT if self.is_installed(TESSERACT) else None

    def engine(self, alphabet: str = DOCUMENTED) -> TextEngine:
        """Return the engine in use, for the characters of an alphabet.

        Raises:
            OcrNotInstalled: no engine is installed, or its files are damaged.
        """
        name = self.engine_name
        if name is None:
            raise OcrNotInstalled(self._wanted)
        engine = self._engines.get(name)
        if engine is None:
            with self._lock:
                engine = self._engines.get(name) or self._load(name)
                self._engines[name] = engine
        return engine if alphabet == DOCUMENTED else engine.in_alphabet(alphabet)

    def structure(self) -> StructureModel | None:
        """Return the table structure network, or None if it is not installed.

        Raises:
            OcrNotInstalled: files of the network are damaged.
        """
        if self._structure is None and self.is_installed(SLANET):
            from chalicelib.engines.ocr.tables.structure import load_structure

            with self._lock:
                self._source.ensure(SLANET)
                self._structure = self._structure or load_structure(self._directory / SLANET)
        return self._structure

    def is_loaded(self, name: str) -> bool:
        """Return whether PPOCR, TESSERACT or SLANET is in memory."""
        return name in self._engines or (name == SLANET and self._structure is not None)

    def is_installed(self, name: str) -> bool:
        """Return whether the files of PPOCR, TESSERACT or SLANET exist or can be downloaded."""
        if name == TESSERACT:
            from chalicelib.engines.ocr.tesseract.program import find_program

            return find_program() is not None
        folder = self._directory / name
        if name not in _FILES:
            return False
        is_here = all((folder / file).is_file() for file in (*_FILES[name], FACTS_FILE))
        return is_here or self._source.offers(name)

    def facts(self) -> EngineFacts:
        """Return name, version and licence of the engine in use, without loading it.

        Raises:
            OcrNotInstalled: no engine is installed.
        """
        name = self.engine_name
        if name is None:
            raise OcrNotInstalled(self._wanted)
        if name == TESSERACT:
            from chalicelib.engines.ocr.tesseract.program import LICENCE, TITLE, data_sha256

            return EngineFacts(TESSERACT, TITLE, data_sha256(), LICENCE)
        self._source.ensure(name)
        try:
            known = read_facts(self._directory / name / FACTS_FILE)
            return EngineFacts(name, known["title"], known["sha256"], known["licence"])
        except KeyError as error:
            raise OcrNotInstalled(name) from error

    def state(self) -> dict[str, str]:
        """Return the state for the health route: the name of the engine in use, or `missing`."""
        return {"ocr": self.engine_name or "missing"}

    def warm(self) -> None:
        """Load all installed networks, so that the first call does not wait for them.

        Raises:
            OcrNotInstalled: files are damaged.
        """
        if self.engine_name is not None:
            self.engine()
        self.structure()

    def _load(self, name: str) -> TextEngine:
        if name == TESSERACT:
            from chalicelib.engines.ocr.tesseract.engine import load_tesseract

            return load_tesseract()
        from chalicelib.engines.ocr.ppocr.loading import load_ppocr

        self._source.ensure(PPOCR)
        return load_ppocr(self._directory / PPOCR)
