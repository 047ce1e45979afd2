"""CPython 3.13 on WebAssembly, for machines that have no Python of the target's version.

Fetched like model files, by sha256; used while building, neither installed nor shipped.
See: infra/model_files/sources/fetch.py
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from infra.model_files.errors import InstallError
from infra.model_files.sources import npm, packages
from infra.model_files.sources.client import Progress
from infra.model_files.sources.fetch import fetch
from infra.model_files.sources.packages import Registry, Source
from infra.packaging.errors import NoCompiler

PYODIDE = Source(
    package="pyodide",
    version="0.28.3",
    file="pyodide-0.28.3.tgz",
    sha256="bc3accb122c2c5d840b26ce56b100a21ab94aea4fe387a5b5c072ec6a88b7a62",
    archive_bytes=5_586_594,
    members={},
    licence="MPL-2.0",
    credit="the Pyodide project; Python by the Python Software Foundation",
    upstream="Pyodide, version 0.28.3, by the Pyodide project",
    registry=Registry.NODE,
)
"""Its Python is 3.13.2."""


def unpack_pyodide(downloads: Path, folder: Path, progress: Progress) -> tuple[Path, Path]:
    """Fetch and unpack Pyodide and the Node.js that runs it.

    Args:
        downloads: keeps both archives.
        folder: existing; takes what is unpacked.
        progress: takes lines for the user.

    Returns:
        The program of Node.js, and the folder of Pyodide.

    Raises:
        NoCompiler: one of them cannot be had.
    """
    try:
        archive = fetch(PYODIDE, downloads, progress)
        wheel = fetch(packages.NODE, downloads, progress)
        node = npm.unpack_node(wheel, folder / "node")
        with tarfile.open(archive, "r:gz") as packed:
            packed.extractall(folder, filter="data")
    except (InstallError, OSError, tarfile.TarError) as error:
        raise NoCompiler(
            f"There is neither a Python 3.13 nor Pyodide to make byte code with: {error}"
        ) from error
    return node, folder / "package"
