"""Installed encoders, loaded once and shared by predictions, ingest and training."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from chalicelib.domain.model_source import INSTALLED_ONLY, ModelSource
from chalicelib.engines.text.encoders import is_installed, load_encoder

if TYPE_CHECKING:
    from chalicelib.engines.text.encoder import Encoder


class EncoderPool:
    """Loads each encoder at its first use; safe to share between threads."""

    def __init__(self, directory: Path, source: ModelSource = INSTALLED_ONLY) -> None:
        self._directory = directory
        self._source = source
        self._encoders: dict[str, Encoder] = {}
        self._lock = Lock()

    def get(self, name: str) -> Encoder:
        """Return an encoder.

        Raises:
            EncoderNotInstalled: its files are missing.
            StorageUnavailable: its files could not be brought.
        """
        encoder = self._encoders.get(name)
        if encoder is None:
            with self._lock:
                encoder = self._encoders.get(name) or self._load(name)
                self._encoders[name] = encoder
        return encoder

    def is_loaded(self, name: str) -> bool:
        """Tell whether an encoder is in memory."""
        return name in self._encoders

    def is_installed(self, name: str) -> bool:
        """Tell whether an encoder's files are there, or can be brought.

        Raises:
            StorageUnavailable: their source did not answer.
        """
        is_here = name in self._encoders or is_installed(self._directory, name)
        return is_here or self._source.offers(name)

    def _load(self, name: str) -> Encoder:
        """Bring and load an encoder."""
        self._source.bring(name)
        return load_encoder(self._directory, name)
