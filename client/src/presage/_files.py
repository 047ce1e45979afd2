"""Opens files to send: paths, bytes, open files, and folders of images."""

from __future__ import annotations

import io
import os
from pathlib import Path

from presage._sources import DOCUMENT_MODELS, File, Source, is_address
from presage.errors import FileError


def open_source(file: File | Source, progress: bool | None = None) -> Source:
    """Open a file to send; a folder is packed into a zip archive.

    Args:
        file: path, bytes, open file or folder; an opened file is returned unchanged.
        progress: whether to show a progress bar for folders; by default only on a terminal.

    Raises:
        FileError: the file cannot be read.
    """
    if isinstance(file, Source):
        return file
    if isinstance(file, (bytes, bytearray)):
        return Source(io.BytesIO(file), "data", len(file))
    if isinstance(file, (str, os.PathLike)):
        return _open_path(Path(file).expanduser(), progress)
    name = os.path.basename(str(getattr(file, "name", "data")))
    try:
        # A retry sends the file again, so it must be seekable.
        size = file.seek(0, os.SEEK_END)
    except (OSError, ValueError, AttributeError) as error:
        raise FileError(f"{name} cannot be read twice. Pass a path or bytes.") from error
    return Source(file, name, size)


def open_documents(file: File) -> File:
    """Pack a folder of documents into an open zip archive; return any other file unchanged.

    Raises:
        FileError: the folder has no `values.json`, or a file cannot be read.
    """
    folder = _folder(file)
    if folder is None:
        return file
    from presage._folders import zip_documents  # only folders need it

    return zip_documents(folder)


def open_batch(
    file: File | None, model_id: str, kind: str | None = None, progress: bool | None = None
) -> File | Source | None:
    """Pack a folder of images or documents, subfolders included; return other files unchanged.

    Raises:
        FileError: the folder has no file that the model reads, or too many files.
    """
    folder = None if file is None else _folder(file)
    if folder is None:
        return file
    from presage._folders import zip_batch  # only folders need it

    takes_pdf = model_id in DOCUMENT_MODELS or kind == "ocr"
    return zip_batch(folder, takes_pdf, progress)


def _folder(file: File) -> Path | None:
    """Return the path of a folder; None for anything else."""
    if not isinstance(file, (str, os.PathLike)) or is_address(file):
        return None
    path = Path(file).expanduser()
    return path if path.is_dir() else None


def _open_path(path: Path, progress: bool | None) -> Source:
    try:
        if path.is_dir():
            from presage._folders import (
                zip_folder,
            )  # only folders need it

            return zip_folder(path, progress)
        if path.exists() and not path.is_file():  # opening a pipe would block
            raise FileError(
                f"{path} is not a regular file. Devices and pipes cannot be read twice."
            )
        stream = path.open("rb")
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise FileError(f"{str(path)!r} is not a valid path: {error}.") from error
    size = os.fstat(stream.fileno()).st_size
    if not size:
        stream.close()
        raise FileError(f"{path} is empty.")
    return Source(stream, path.name, size)
