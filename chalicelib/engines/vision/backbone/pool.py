"""Loads the frozen networks that compute features of images. Each network is loaded only once.

infra/models.py installs each network in a folder with `model.onnx` and `backbone.json`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from chalicelib.commands import MODELS_COMMAND
from chalicelib.domain.models.model_files import INSTALLED_ONLY, ModelSource
from chalicelib.engines.facts import read_facts
from chalicelib.engines.vision.interface import BackboneUse

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Pixels, Singles

# EfficientNet-Lite2: outputs logits, embedding, tap8, tap16, tap32.
LITE2 = "lite2"
# NanoDet-g at 416 x 416: outputs scores52/26/13, boxes52/26/13, pan52/26/13.
NANODET = "nanodet"
# The installation writes this file last, so a folder with the file is complete.
FACTS_FILE = "backbone.json"
_MODEL_FILE = "model.onnx"


class BackboneNotInstalled(FileNotFoundError):
    """Raised if files of a backbone are missing or damaged; infra/models.py installs them."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The backbone {name} is not installed. Install it with: {MODELS_COMMAND} install"
        )
        self.name = name


@dataclass(frozen=True)
class BackboneFacts:
    """Facts about an installed backbone, for model cards."""

    name: str
    """Short name of the backbone."""
    title: str
    """Name that the authors gave to the network."""
    sha256: str
    """SHA-256 of the backbone's model file, 64 hex digits."""
    licence: str
    """SPDX identifier of the weights' licence."""


class Backbone:
    """A backbone that is loaded into memory; safe to share between threads."""

    def __init__(self, folder: Path, facts: BackboneFacts) -> None:
        import onnxruntime

        from chalicelib.engines.onnx_session import open_session

        self.facts = facts
        self._session = open_session(folder / _MODEL_FILE)
        self._options = onnxruntime.RunOptions()
        # Skips the layers behind the last requested output.
        self._options.only_execute_path_to_fetches = True

    def run(self, pixels: Pixels, outputs: Sequence[str]) -> list[Singles]:
        """Return the requested outputs, each float32, shape (images, ...), for a batch of images.

        Args:
            pixels: RGB, uint8, shape (images, height, width, 3); sides are multiples of 32.
            outputs: names of the requested outputs of the network.
        """
        results: list[Singles] = self._session.run(list(outputs), {"pixels": pixels}, self._options)
        return results


class BackbonePool:
    """Loads each backbone at its first use; safe to share between threads."""

    def __init__(self, directory: Path, source: ModelSource = INSTALLED_ONLY) -> None:
        self._directory = directory
        self._source = source
        self._backbones: dict[str, Backbone] = {}
        self._lock = Lock()

    def get(self, name: str) -> Backbone:
        """Return the backbone `name`; raise BackboneNotInstalled if files are missing or broken."""
        backbone = self._backbones.get(name)
        if backbone is None:
            with self._lock:
                backbone = self._backbones.get(name) or self._load(name)
                self._backbones[name] = backbone
        return backbone

    def facts(self, name: str) -> BackboneFacts:
        """Return the facts of an installed backbone without loading it."""
        facts = read_facts(self.folder(name) / FACTS_FILE)
        try:
            return BackboneFacts(name, facts["title"], facts["sha256"], facts["licence"])
        except KeyError as missing:
            raise BackboneNotInstalled(name) from missing

    def sha256(self, name: str) -> str:
        """Return the SHA-256 digest of the model file of an installed backbone."""
        return self.facts(name).sha256

    def is_loaded(self, name: str) -> bool:
        """Return whether a backbone is in memory."""
        return name in self._backbones

    def is_installed(self, name: str) -> bool:
        """Return whether a backbone's files are installed or can be downloaded."""
        is_here = name in self._backbones or self._is_here(name)
        return is_here or self._source.offers(name)

    def folder(self, name: str) -> Path:
        """Return the folder with the backbone's files: network, facts and label names."""
        self._source.ensure(name)
        return self._directory / name

    def _is_here(self, name: str) -> bool:
        folder = self._directory / name
        return bool(read_facts(folder / FACTS_FILE)) and (folder / _MODEL_FILE).is_file()

    def _load(self, name: str) -> Backbone:
        self._source.ensure(name)
        if not self._is_here(name):
            raise BackboneNotInstalled(name)
        facts = self.facts(name)
        with (self._directory / name / _MODEL_FILE).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != facts.sha256:
            raise BackboneNotInstalled(name)
        return Backbone(self._directory / name, facts)


def read_uses(member: Mapping[str, str]) -> tuple[BackboneUse, ...]:
    """Convert a JSON object of backbone names and digests to records, sorted by name.

    Raises:
        AttributeError: `member` is not an object.
    """
    return tuple(BackboneUse(str(name), str(sha256)) for name, sha256 in sorted(member.items()))
