"""Packs a folder of images, with one subfolder per label, into a zip archive."""

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

# The service's limit for one archive.
MAX_FILES = 100_000
# Endings of documents, and the file with their values.
DOCUMENTS, VALUES = PICTURES | {".pdf"}, "values.json"
# Endings of files with boxes.
ANNOTATIONS = frozenset({".csv", ".json", ".txt", ".yaml", ".yml", ".names", ".xml"})


def zip_folder(folder: Path, progress: bool | None = None) -> Source:
    """Pack a folder into a temporary archive, which is deleted when the caller closes it.

    Hidden files and folders are skipped. Images in formats that the service does not accept are
    converted. In folders with annotations, such images cause an error.

    Raises:
        FileError: the folder has no images, too many files, or images that cannot be converted.
    """
    found = list(_members(folder))
    others = [path for path in found if path.suffix.lower() in CONVERTIBLE]
    if not any(path.suffix.lower() in PICTURES for path in found) and not others:
        raise FileError(f"{folder} has no PNG or JPEG image in a subfolder named after its label.")
    # Boxes are in pixels of the original images, so these must not be scaled or converted.
    is_annotated = any(path.suffix.lower() in ANNOTATIONS for path in found)
    if others and (is_annotated or not can_convert()):
        remedy = (
            "convert them and their boxes first"
            if is_annotated
            else "pip install 'presage-client[pictures]' converts them"
        )
        raise FileError(
            f"{others[0]} and {len(others) - 1:,} more are neither PNG nor JPEG: {remedy}."
            if len(others) > 1
            else f"{others[0]} is neither PNG nor JPEG: {remedy}."
        )
    stream = _temporary()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive,
        Bar(f"Packing {folder.resolve().name}", progress, len(found)) as bar,
    ):
        for number, path in enumerate(found, 1):
            _store(archive, path, path.relative_to(folder), is_annotated)
            bar.show(number)
    return Source(stream, f"{folder.resolve().name}.zip", stream.tell())


def zip_documents(folder: Path) -> BinaryIO:
    """Pack the documents of a folder and their values into a temporary archive.

    Raises:
        FileError: the folder has no `values.json`, or a file cannot be read.
    """
    if not (folder / VALUES).is_file():
        raise FileError(f"{folder} has no file {VALUES} with the values of its documents.")
    stream = _temporary()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            is_document = path.suffix.lower() in DOCUMENTS and not path.name.startswith(".")
            if path.is_file() and (is_document or path.name == VALUES):
                archive.write(path, path.name)
    return stream


def _temporary() -> BinaryIO:
    """Return a new temporary file, which is deleted when it is closed."""
    return cast("BinaryIO", tempfile.TemporaryFile())


def _store(archive: zipfile.ZipFile, path: Path, name: Path, is_annotated: bool) -> None:
    """Add a file to an archive. Convert an image that the service would not accept, if possible."""
    size = path.stat().st_size
    is_fine = path.suffix.lower() not in CONVERTIBLE and size <= MAX_EXAMPLE_BYTES
    if is_fine or is_annotated:
        archive.write(path, name.as_posix())
        return
    picture = convert(Source(path.open("rb"), path.name, size), MAX_EXAMPLE_BYTES)
    try:
        inner = name.with_name(picture.name).as_posix()
        if picture.name != path.name and inner in archive.namelist():  # a.jpg exists next to a.heic
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
                    f"{folder} has more than {MAX_FILES:,} files, the limit of one upload. "
                    "Upload it in parts, the later ones with `add`."
                )
            yield path
