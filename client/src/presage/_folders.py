"""Packs a folder into a zip archive: labelled images, documents, or the files of a batch."""

from __future__ import annotations

import os
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Set
from pathlib import Path
from typing import BinaryIO, cast

from presage._pictures import MAX_BYTES, MAX_EXAMPLE_BYTES, can_convert, convert
from presage._progress import Bar
from presage._sources import CONVERTIBLE, PICTURES, Source
from presage.errors import FileError

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
    return _pack(folder, found, 0 if is_annotated else MAX_EXAMPLE_BYTES, progress)


def zip_batch(folder: Path, progress: bool | None = None) -> Source:
    """Pack the images and PDFs of a folder and its subfolders into a temporary archive.

    Images in other formats are converted if possible. A file that cannot be converted is sent as it
    is, and its line of the result has the error. A warning names the files that are not sent.

    Raises:
        FileError: the folder has no image or PDF, or too many files.
    """
    found: list[Path] = []
    others: list[Path] = []
    for path in _members(folder):
        is_sent = path.suffix.lower() in DOCUMENTS | CONVERTIBLE
        (found if is_sent else others).append(path)
    if not found:
        raise FileError(f"{folder} and its subfolders have no image and no PDF.")
    if others:
        names = [path.relative_to(folder).as_posix() for path in others[:SHOWN]]
        more = f" and {len(others) - SHOWN:,} more" if len(others) > SHOWN else ""
        warnings.warn(
            f"Neither images nor PDFs, so not sent: {', '.join(names)}{more}.",
            stacklevel=2,
        )
    return _pack(folder, found, MAX_BYTES, progress, takes_pdf=True)


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


def _pack(
    folder: Path, found: list[Path], most_bytes: int, progress: bool | None, takes_pdf: bool = False
) -> Source:
    """Pack files of a folder. Images are converted to `most_bytes` at most, unless that is 0."""
    stream = _temporary()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive,
        Bar(f"Packing {folder.resolve().name}", progress, len(found)) as bar,
    ):
        for number, path in enumerate(found, 1):
            _store(archive, path, path.relative_to(folder), most_bytes, takes_pdf)
            bar.show(number)
    return Source(stream, f"{folder.resolve().name}.zip", stream.tell())


def _store(
    archive: zipfile.ZipFile, path: Path, name: Path, most_bytes: int, takes_pdf: bool
) -> None:
    """Add a file to an archive. Convert an image that the service would not accept, if possible."""
    size = path.stat().st_size
    is_fine = path.suffix.lower() not in CONVERTIBLE and size <= most_bytes
    if is_fine or not most_bytes:
        archive.write(path, name.as_posix())
        return
    source = Source(path.open("rb"), path.name, size)
    try:
        picture = convert(source, most_bytes, takes_pdf)
    except FileError:
        if not takes_pdf:
            raise
        archive.write(path, name.as_posix())  # in a batch, its line has the error
        return
    try:
        inner = name.with_name(picture.name).as_posix()
        # A file a.jpg may exist next to a.heic; the archive contains it, or will contain it.
        is_taken = path.with_name(picture.name).exists() or inner in archive.namelist()
        if picture.name != path.name and is_taken:
            inner = name.with_name(path.name + Path(picture.name).suffix).as_posix()
        archive.writestr(inner, picture.part()[1].read())
    finally:
        picture.close()


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
