"""Downloads folders of model files from the bucket to a Lambda function's disk when needed.

One connection to the bucket is slower than a function's network. So large files are divided into
ranges, and ranges and folders are downloaded in parallel. A file that two folders have in common is
downloaded and stored once. The catalogue lists the files of each folder with size and digest.
Catalogue and files are named by their digests, so that functions of two deployments never mix
files. infra/deploying/artifacts.py writes them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from botocore.exceptions import BotoCoreError

from chalicelib import journal, log
from chalicelib.config import Settings
from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.errors import translate_errors

# Prefix of model files and catalogues in the bucket.
PREBUILT_PREFIX = "prebuilt/"
# Bytes of a file that one request reads.
RANGE_BYTES = 8 << 20
# Ranges of all files that are downloaded at the same time.
CONNECTIONS = 8
_TRIES = 3


@dataclass(frozen=True)
class ModelFile:
    """Size and digest of a model file in the catalogue."""

    size: int
    """Size in bytes."""
    sha256: str
    """Digest, 64 hex digits. The file is stored in the bucket under this name."""

    @property
    def key(self) -> str:
        """Return the file's key in the bucket."""
        return f"{PREBUILT_PREFIX}files/{self.sha256}"


# Files by folder and name.
Catalogue = Mapping[str, Mapping[str, ModelFile]]


def write_catalogue(catalogue: Catalogue) -> tuple[str, bytes]:
    """Return the key and the content of a catalogue."""
    folders = {
        folder: {name: [file.size, file.sha256] for name, file in files.items()}
        for folder, files in catalogue.items()
    }
    content = json.dumps({"folders": folders}, sort_keys=True, indent=1).encode()
    return f"{PREBUILT_PREFIX}catalogues/{hashlib.sha256(content).hexdigest()}.json", content


@translate_errors
class ModelDownloads:
    """Downloads folders of model files. Threads and processes may share the model directory."""

    def __init__(self, settings: Settings, clients: Clients) -> None:
        self._bucket = settings.bucket
        self._catalogue_key = settings.models_from_bucket
        self._directory = Path(settings.model_dir)
        self._clients = clients
        self._lock = Lock()
        self._bringing: defaultdict[str, Lock] = defaultdict(Lock)
        self._catalogue: Catalogue | None = None
        self._brought: set[str] = set()
        self._fetching: defaultdict[str, Lock] = defaultdict(Lock)
        # Paths of downloaded files by digest: in the temporary folder, and in the final one.
        self._fetched: dict[str, tuple[Path, Path]] = {}
        self._connections = ThreadPoolExecutor(CONNECTIONS, "models")

    def offers(self, folder: str) -> bool:
        """Return whether the catalogue has a folder."""
        with self._lock:
            return folder in self._read_catalogue()

    def ensure(self, folder: str) -> None:
        """Download a folder, unless it is complete or not in the catalogue."""
        if folder in self._brought:
            return
        with self._lock:
            files, bringing = self._read_catalogue().get(folder), self._bringing[folder]
        if files is None:
            return
        with bringing:
            if folder not in self._brought and not _is_whole(self._directory / folder, files):
                self._download(folder, files)
            self._brought.add(folder)

    def _read_catalogue(self) -> Catalogue:
        if self._catalogue is None:
            content = self._read(self._catalogue_key)
            if hashlib.sha256(content).hexdigest() != Path(self._catalogue_key).stem:
                log.error("model_catalogue_damaged", key=self._catalogue_key)
                raise StorageUnavailable
            self._catalogue = {
                folder: {name: ModelFile(*facts) for name, facts in files.items()}
                for folder, files in json.loads(content)["folders"].items()
            }
        return self._catalogue

    def _download(self, folder: str, files: Mapping[str, ModelFile]) -> None:
        """Download the files of a folder and check them."""
        # Into a temporary folder that is renamed at the end, so that no reader sees half of it.
        began = time.monotonic()
        target = self._directory / folder
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self._directory, prefix=".bringing-") as aside:
                whole = Path(aside) / "whole"
                whole.mkdir()
                for name, file in files.items():
                    self._link_or_download(file, whole / name, target / name)
                _put_in_place(whole, target, files)
        except Exception as error:
            journal.model_download_failed(folder, error)
            if isinstance(error, OSError):
                raise StorageUnavailable from error
            raise
        size = sum(file.size for file in files.values())
        journal.model_downloaded(folder, size, time.monotonic() - began)

    def _link_or_download(self, file: ModelFile, path: Path, final: Path) -> None:
        """Create one file of a folder: link to an equal file of another folder, or download it."""
        with self._lock:
            fetching = self._fetching[file.sha256]
        with fetching:
            # One of the two paths exists, because the finished folder is moved by one rename.
            for place in self._fetched.get(file.sha256, ()):
                with suppress(OSError):
                    os.link(place, path)
                    return
            self._fetch(file, path)
            self._fetched[file.sha256] = path, final

    def _fetch(self, file: ModelFile, path: Path) -> None:
        """Download one file; raise an error if its size or digest is wrong."""
        digest, size = hashlib.sha256(), 0
        with path.open("xb") as target:
            for content in self._ranges(file):
                size += len(content)
                digest.update(content)
                target.write(content)
        if size != file.size or digest.hexdigest() != file.sha256:
            log.error("model_file_damaged", key=file.key)
            raise StorageUnavailable

    def _ranges(self, file: ModelFile) -> Iterator[bytes]:
        """Yield the content of a file in order. At most CONNECTIONS ranges are in memory."""
        coming: deque[Future[bytes]] = deque()
        try:
            for start in range(0, max(file.size, 1), RANGE_BYTES):
                end = min(start + RANGE_BYTES, file.size)
                # A small file is requested without a range, so that a wrong length is noticed.
                asked = "" if file.size <= RANGE_BYTES else f"bytes={start}-{end - 1}"
                coming.append(self._connections.submit(self._read, file.key, asked))
                if len(coming) == CONNECTIONS:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            for left in coming:
                left.cancel()

    def _read(self, key: str, byte_range: str = "") -> bytes:
        """Return an object's bytes, or only its `byte_range`; retry if the connection breaks."""
        options = {"Range": byte_range} if byte_range else {}
        for _ in range(_TRIES - 1):
            try:
                return self._read_once(key, options)
            except BotoCoreError as error:
                log.warning("model_range_broken", key=key, cause=type(error).__name__)
        return self._read_once(key, options)

    def _read_once(self, key: str, options: Mapping[str, str]) -> bytes:
        found = self._clients.s3.get_object(Bucket=self._bucket, Key=key, **options)
        return bytes(found["Body"].read())


def _is_whole(folder: Path, files: Mapping[str, ModelFile]) -> bool:
    """Return whether a folder has all files with the right sizes."""
    # Digests are not checked again, because a folder appears only after its check.
    try:
        return all((folder / name).stat().st_size == file.size for name, file in files.items())
    except OSError:
        return False


def _put_in_place(folder: Path, target: Path, files: Mapping[str, ModelFile]) -> None:
    """Move a complete folder to its final path, unless another process was faster."""
    if target.exists() and not _is_whole(target, files):
        shutil.rmtree(target, ignore_errors=True)
    try:
        os.replace(folder, target)
    except OSError:
        if not _is_whole(target, files):
            raise
