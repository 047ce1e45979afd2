"""A folder of pictures, a folder for each label, becomes an archive that the service takes."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from presage._pictures import MAX_EXAMPLE_BYTES, can_convert, convert
from presage._progress import Bar
from presage._sources import CONVERTIBLE, PICTURES, Source
from presage.errors import FileError

MAX_FILES = 100_000
"""Files that an archive may hold."""
ANNOTATIONS = frozenset({".csv", ".json", ".txt", ".yaml", ".yml", ".names", ".xml"})
"""Endings of files that say where objects are."""


def zip_folder(folder: Path, progress: bool | None = None) -> Source:
    """Write a folder into an archive that disappears when it is closed.

    What lies in hidden files and folders stays out. Pictures are stored as they are, but for those
    that the service does not take; beside annotations all are, since boxes are in their pixels.

    Raises:
        FileError: it holds no picture, too many files, or pictures that must be converted first.
    """
    found = list(_members(folder))
    others = [path for path in found if path.suffix.lower() in CONVERTIBLE]
    if not any(path.suffix.lower() in PICTURES for path in found) and not others:
        raise FileError(f"{folder} holds no PNG or JPEG picture in a folder named by its label.")
    is_annotated = any(path.suffix.lower() in ANNOTATIONS for path in found)
    if others and (is_annotated or not can_convert()):
        remedy = (
            "convert them first, and their boxes with them"
            if is_annotated
            else "pip install 'presage-client[pictures]' converts them"
        )
        raise FileError(
            f"{others[0]} and {len(others) - 1:,} more are neither PNG nor JPEG: {remedy}."
            if len(others) > 1
            else f"{others[0]} is neither PNG nor JPEG: {remedy}."
        )
    stream = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 - closed by whoever sends it
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive,
        Bar(f"Packing {folder.resolve().name}", progress, len(found)) as bar,
    ):
        for number, path in enumerate(found, 1):
            _store(archive, path, path.relative_to(folder), is_annotated)
            bar.show(number)
    return Source(stream, f"{folder.resolve().name}.zip", stream.tell())


def _store(archive: zipfile.ZipFile, path: Path, name: Path, is_annotated: bool) -> None:
    """Write a file into an archive, converted where it must be and may be."""
    size = path.stat().st_size
    is_fine = path.suffix.lower() not in CONVERTIBLE and size <= MAX_EXAMPLE_BYTES
    if is_fine or is_annotated:
        archive.write(path, name.as_posix())
        return
    picture = convert(Source(path.open("rb"), path.name, size), MAX_EXAMPLE_BYTES)
    try:
        inner = name.with_name(picture.name).as_posix()
        if picture.name != path.name and inner in archive.namelist():  # a.jpg beside a.heic
            inner = name.with_name(f"{path.name}.jpg").as_posix()
        archive.writestr(inner, picture.part()[1].read())
    finally:
        picture.close()


def _members(folder: Path) -> Iterator[Path]:
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(files):
            path = Path(root, name)
            ending = path.suffix.lower()
            if name.startswith(".") or ending not in PICTURES | CONVERTIBLE | ANNOTATIONS:
                continue
            count += 1
            if count > MAX_FILES:
                raise FileError(
                    f"{folder} holds more than {MAX_FILES:,} files, the most that one upload "
                    "takes: upload it in parts, the later ones with `add`."
                )
            yield path
