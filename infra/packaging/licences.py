"""Collects, in one folder of the package, the licence texts of everything that ships.

Apache, MIT and BSD licences require that their text is included. For packages whose wheel has no
text, infra/packaging/licences/ has a note with the licence from their metadata.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path

from infra.packaging.lock import normal
from infra.packaging.target import PackageError

# Name of the folder in the package.
FOLDER = "LICENSES"
NOTES = Path(__file__).with_name("licences")
_TEXT = re.compile(r"(licen[cs]es?|copying|notices?|authors|thirdpartynotices)([.\-_].*)?", re.I)
_LICENCE_FOLDERS = ("licenses", "license_files")
_CLASSIFIER = "License :: OSI Approved :: "
# Characters of a licence field above which it holds the licence's text, not its name.
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Shipped:
    """A package that ships."""

    name: str
    version: str
    licence: str
    """Licence as named in the metadata."""


def collect(vendor: Path, notes: Path = NOTES) -> list[Shipped]:
    """Copy the licence texts of all installed packages to the folder for licences.

    Args:
        vendor: folder of the installed packages, before they are trimmed.
        notes: licence texts of packages that contain none, by package name.

    Returns:
        The shipped packages, sorted by name.

    Raises:
        PackageError: a package has no text and no note.
    """
    shipped = []
    for info in sorted(vendor.glob("*.dist-info")):
        metadata = HeaderParser().parsestr((info / "METADATA").read_text("utf-8"))
        package = Shipped(normal(metadata["Name"]), metadata["Version"], _licence(metadata))
        _copy_texts(vendor, info, package.name, notes)
        shipped.append(package)
    return sorted(shipped, key=lambda package: package.name)


def _licence(metadata: Message) -> str:
    given = str(metadata["License-Expression"] or metadata["License"] or "")
    if given and len(given) <= _LONGEST_NAME and "\n" not in given:
        return given
    classifiers = metadata.get_all("Classifier") or []
    names = [c.removeprefix(_CLASSIFIER) for c in classifiers if c.startswith(_CLASSIFIER)]
    return ", ".join(names) or "see its text"


def _copy_texts(vendor: Path, info: Path, name: str, notes: Path) -> None:
    target = vendor / FOLDER / name
    for path in _texts(vendor, info):
        base = info if path.is_relative_to(info) else vendor
        copy = target / path.relative_to(base)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    note = notes / f"{name}.txt"
    if note.is_file():
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(note, target / "NOTE.txt")
    if not target.is_dir():
        raise PackageError(
            f"{name} brings no licence text, and its licence must go along. Write what its makers "
            f"say into {notes.name}/{note.name} next to infra/packaging/licences.py."
        )


def _texts(vendor: Path, info: Path) -> Iterator[Path]:
    """Yield the paths of a package's licence texts in its metadata and next to its modules."""
    for path in sorted(info.rglob("*")):
        inside = path.relative_to(info)
        is_in_folder = inside.parts[0] in _LICENCE_FOLDERS
        if path.is_file() and (is_in_folder or _TEXT.fullmatch(path.name)):
            yield path
    for line in sorted(_record(info)):
        path = vendor / line
        if _TEXT.fullmatch(path.name) and path.suffix != ".py" and path.is_file():
            yield path


def _record(info: Path) -> Iterator[str]:
    """Yield the paths of a package's installed files, without its metadata and commands."""
    record = info / "RECORD"
    lines = record.read_text("utf-8").splitlines() if record.is_file() else []
    for line in lines:
        path = line.split(",")[0]
        if not path.startswith((f"{info.name}/", "../", "/")):
            yield path


def add_own(project: Path, folder: Path) -> None:
    """Add the licences of the project and of Chalice; the package includes two files of Chalice."""
    for name in ("LICENSE", "NOTICE"):
        if (project / name).is_file():
            (folder / "presage").mkdir(parents=True, exist_ok=True)
            shutil.copyfile(project / name, folder / "presage" / name)
    chalice = distribution("chalice")
    for file in chalice.files or ():
        if _TEXT.fullmatch(file.name):
            (folder / "chalice").mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(chalice.locate_file(file)), folder / "chalice" / file.name)
