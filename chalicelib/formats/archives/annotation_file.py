"""Finds annotations.csv in a detection archive and unpacks it for reading."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import BinaryIO, cast

from chalicelib.domain.datasets.receipt import RejectedItem
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.annotations import (
    ANNOTATIONS_NAME,
    MAX_ANNOTATIONS_BYTES,
    Annotations,
    AnnotationsSource,
    read_annotations,
)
from chalicelib.formats.archives.picture_index import PictureIndex
from chalicelib.formats.archives.zip_archive import Archive, Member, MemberProblem
from chalicelib.formats.archives.zip_names import show_path

_SMALL_BYTES = 1 << 20


def is_annotations(member: Member) -> bool:
    """Tell whether a file is the one that holds the boxes."""
    return member.name == ANNOTATIONS_NAME


def open_annotations(
    archive: Archive, reject: Callable[[RejectedItem], None], check: Callable[[], None]
) -> Annotations:
    """Read all boxes of an archive.

    Args:
        archive: a detection archive.
        reject: takes each box that cannot be used.
        check: called now and then; raises to stop.

    Returns:
        The boxes by picture.

    Raises:
        InvalidUpload: there is no annotations.csv, or several, or it cannot be read.
    """
    index = PictureIndex()
    member = _find_member(archive, index)
    folder = member.path.removesuffix(ANNOTATIONS_NAME)
    source = AnnotationsSource(index, folder, reject, check)
    with tempfile.SpooledTemporaryFile(max_size=_SMALL_BYTES) as file:
        try:
            for chunk in archive.chunks(member, MAX_ANNOTATIONS_BYTES):
                check()
                file.write(chunk)
        except MemberProblem as problem:
            raise InvalidUpload(f"{ANNOTATIONS_NAME} cannot be read: {problem}") from None
        return read_annotations(cast("BinaryIO", file), source)


def _find_member(archive: Archive, index: PictureIndex) -> Member:
    """Return annotations.csv, and note all other files.

    Raises:
        InvalidUpload: there is none, or there are several.
    """
    found: list[Member] = []
    similar = ""
    for member in archive.members():
        if is_annotations(member):
            found.append(member)
        elif not member.entry.path_problem:
            index.add(member.index, member.path)
        if len(found) > 1:
            raise _several(found)
        if member.name.lower() == ANNOTATIONS_NAME:
            similar = member.path
    if not found:
        raise _missing(similar)
    return found[0]


def _several(found: list[Member]) -> InvalidUpload:
    """Make the refusal of an archive with two files of boxes."""
    first, second = (show_path(member.path) for member in found)
    return InvalidUpload(
        f"The archive has two files named {ANNOTATIONS_NAME}: {first} and {second}. "
        "Put all rows into one."
    )


def _missing(similar: str) -> InvalidUpload:
    """Make the refusal of an archive without boxes."""
    hint = f" Rename {show_path(similar)}: small letters only." if similar else ""
    return InvalidUpload(
        f"The archive has no {ANNOTATIONS_NAME}. Add one with a row for each picture: its file "
        "name, then a cell for each box, a JSON object of label, x, y, width and height."
        f"{hint} For pictures in folders named by their label use the type image."
    )
