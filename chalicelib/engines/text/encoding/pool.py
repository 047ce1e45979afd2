"""Loads installed encoders once, for prediction, import and training."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from chalicelib.domain.models.model_files import INSTALLED_ONLY, ModelSource
from chalicelib.engines.text.encoding.encoders import is_installed, load_encoder

if TYPE_CHECKING:
    from chalicelib.domain.common.arrays import Singles
    from chalicelib.engines.text.encoding.interface import Encoder


class EncoderPool:
    """Loads each encoder at its first use; safe to share between threads."""

    def __init__(
        self, directory: Path, source: ModelSource = INSTALLED_ONLY, threads: int = 1
    ) -> None:
        """Create a pool that has not loaded any encoder.

        Args:
            directory: the model directory, with one folder for each encoder.
            source: downloads missing files of encoders, unless it is `INSTALLED_ONLY`.
            threads: number of encoders that encode the same text at the same time.
        """
        self._directory = directory
        self._source = source
        self._threads = threads
        self._encoders: dict[str, Encoder] = {}
        self._lock = Lock()

    def get(self, name: str) -> Encoder:
        """Return the encoder `name`; raise EncoderNotInstalled if its files are missing."""
        encoder = self._encoders.get(name)
        if encoder is None:
            with self._lock:
                encoder = self._encoders.get(name) or self._load(name)
                self._encoders[name] = encoder
        return encoder

    def folder(self, name: str) -> Path:
        """Return the folder of the encoder `name`; download its files first if they are missing."""
        self._source.ensure(name)
        return self._directory / name

    def sha256(self, name: str) -> str:
        """Return the digest of the encoder's files; an empty string if it is not installed.

        Raises:
            EncoderDamaged: the encoder's files are damaged.
            StorageUnavailable: the encoder's files could not be downloaded.
        """
        return self.get(name).sha256 if self.is_installed(name) else ""

    def vectors(self, names: Sequence[str], text: str) -> dict[str, Singles]:
        """Return the vector of one text from each encoder of `names`, float32, shape (1, dims).

        Raises:
            EncoderNotInstalled: the files of an encoder are missing.
        """
        encoders = [self.get(name) for name in names]
        if self._threads <= 1 or len(encoders) == 1:
            return {encoder.name: encoder.encode([text]) for encoder in encoders}
        # The encoders of a profile are independent, so they run in parallel.
        others = [self._helpers.submit(encoder.encode, [text]) for encoder in encoders[1:]]
        made = [encoders[0].encode([text]), *(other.result() for other in others)]
        return dict(zip(names, made, strict=True))

    @cached_property
    def _helpers(self) -> ThreadPoolExecutor:
        # Created by the first text, so that processes can fork before; kept, because starting
        # threads for each text costs a good part of what they save.
        return ThreadPoolExecutor(self._threads, "encoder")

    def is_loaded(self, name: str) -> bool:
        """Return whether an encoder is in memory."""
        return name in self._encoders

    def is_installed(self, name: str) -> bool:
        """Return whether an encoder's files are installed or can be downloaded."""
        is_here = name in self._encoders or is_installed(self._directory, name)
        return is_here or self._source.offers(name)

    def _load(self, name: str) -> Encoder:
        self._source.ensure(name)
        return load_encoder(self._directory, name)
