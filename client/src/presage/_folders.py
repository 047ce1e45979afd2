"""Packs a folder into a zip archive: labelled images, documents, or the files of a batch."""

from __future__ import annotations

import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Set
from pathlib import Path
from typing import BinaryIO, cast

from presage._pictures import (
    MAX_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_EXAMPLE_BYTES,
    can_convert,
    convert,
)
from presage._progress import Bar
from presage._sources import CONVERTIBLE, PICTURES, Source
from presage.errors import FileError

# Adds a file to an archive, under a name.
Store = Callable[[zipfile.ZipFile, Path, str], None]
# The service's limit for one archive.
MAX_FILES = 100_000
# Endings of documents, and the file with their values.
DOCUMENTS, VALUES = PICTURES | {".pdf"}, "values.json"
# Number of files that a warning names.
SHOWN = 5
# Endings of files with boxes.
ANNOTATIONS = frozenset({".csv", ".json", ".txt", ".yaml", ".yml", ".names", ".xml"})


def zip_folder(folder: Path, progress: bool | None = None) -> Source:
    """Pack a folder into a temporary archive, which is deleted when the caller closes it.

    Hidden files and folders are skipped. Images in formats that the service does not accept are
    converted. In folders with annotations, such images cause an error.

    Raises:
        FileError: the folder has no images, too many files, or images that cannot be converted.
    """
    found = list(_members(folder, PICTURES | CONVERTIBLE | ANNOTATIONS))
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
    return _pack(folder, found, _store_unchanged if is_annotated else _store_example, progress)


def zip_batch(folder: Path, takes_pdf: bool, progress: bool | None = None) -> Source:
    """Pack the images of a folder and its subfolders, and for documents also its PDFs.

    Each file keeps its path as its name, because the service recognises files by their content.
    Images in other formats are converted if possible. A file that cannot be converted is sent as it
    is, and its line of the result has the error. Warnings name the files that are not sent, and
    those that are scaled down.

    Raises:
        FileError: the folder has no file to send, or too many files.
    """
    kinds = "images or PDFs" if takes_pdf else "images"
    endings = PICTURES | CONVERTIBLE | (DOCUMENTS if takes_pdf else frozenset())
    most_bytes = MAX_DOCUMENT_BYTES if takes_pdf else MAX_BYTES
    found: list[Path] = []
    others: list[Path] = []
    for path in _members(folder):
        (found if path.suffix.lower() in endings else others).append(path)
    if not found:
        raise FileError(f"{folder} and its subfolders have no {kinds}.")
    _warn(f"Not sent, because the names do not end as those of {kinds}", folder, others)
    smaller: list[Path] = []

    def store(archive: zipfile.ZipFile, path: Path, name: str) -> None:
        try:
            picture = _converted(path, most_bytes, takes_pdf)
        except FileError:  # its line of the result has the error
            picture = None
        if picture is None:
            archive.write(path, name)
            return
        if picture.scale != 1.0:
            smaller.append(path)
        archive.writestr(name, picture.part()[1].read())
        picture.close()

    source = _pack(folder, found, store, progress)
    _warn("Scaled down to be sent, so boxes are in pixels of the smaller image", folder, smaller)
    return source


def _warn(cause: str, folder: Path, files: list[Path]) -> None:
    """Warn about some files of a folder, if any."""
    names = [path.relative_to(folder).as_posix() for path in files[:SHOWN]]
    more = f" and {len(files) - SHOWN:,} more" if len(files) > SHOWN else ""
    if names:
        warnings.warn(f"{cause}: {', '.join(names)}{more}.", stacklevel=3)


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


def _pack(folder: Path, found: list[Path], store: Store, progress: bool | None) -> Source:
    """Pack files of a folder with a function that adds one file to the archive."""
    stream = _temporary()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive,
        Bar(f"Packing {folder.resolve().name}", progress, len(found)) as bar,
    ):
        for number, path in enumerate(found, 1):
            store(archive, path, path.relative_to(folder).as_posix())
            bar.show(number)
    return Source(stream, f"{folder.resolve().name}.zip", stream.tell())


def _store_unchanged(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    archive.write(path, name)


def _store_example(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    """Add a labelled image to an archive. Convert it if the service would not accept it."""
    picture = _converted(path, MAX_EXAMPLE_BYTES)
    if picture is None:
        archive.write(path, name)
        return
    inner = Path(name).with_name(picture.name).as_posix()
    # A file a.jpg may exist next to a.heic; the archive contains it, or will contain it.
    is_taken = path.with_name(picture.name).exists() or inner in archive.namelist()
    if picture.name != path.name and is_taken:
        inner = name + Path(picture.name).suffix
    archive.writestr(inner, picture.part()[1].read())
    picture.close()


def _converted(path: Path, most_bytes: int, takes_pdf: bool = False) -> Source | None:
    """Return an image in a format and size that the service accepts; None if it already is."""
    size = path.stat().st_size
    if path.suffix.lower() not in CONVERTIBLE and size <= most_bytes:
        return None
    return convert(Source(path.open("rb"), path.name, size), most_bytes, takes_pdf)


def _members(folder: Path, endings: Set[str] | None = None) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders with these endings, or all."""
    count = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        for name in sorted(files):
            path = Path(root, name)
            ending = path.suffix.lower()
            if name.startswith(".") or (endings is not None and ending not in endings):
                continue
            count += 1
            if count > MAX_FILES:
                raise FileError(
                    f"{folder} has more than {MAX_FILES:,} files, the limit of one upload. "
                    "Upload it in parts, the later ones with `add`."
                )
            yield path
