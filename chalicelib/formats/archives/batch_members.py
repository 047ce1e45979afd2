"""Reads the files of an archive as the lines of a batch. Only one file is in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from chalicelib.domain.jobs.batch import BatchLine, LineError
from chalicelib.errors import InvalidUpload, ServiceError
from chalicelib.formats.archives.zip_archive import (
    MemberProblem,
    ZipArchive,
    ZipMember,
    open_archive,
)
from chalicelib.formats.archives.zip_directory import show_path
from chalicelib.formats.texts.batch_file import shown_id


def read_members(
    file: BinaryIO,
    limit: int,
    too_large: Callable[[int, int], ServiceError],
    check: Callable[[], None] = lambda: None,
) -> Iterator[BatchLine]:
    """Yield the files of an archive as lines of a batch. The line of an unusable file has an error.

    Args:
        file: The archive, seekable; stays open.
        limit: Maximum size of one file in bytes.
        too_large: Returns the error for a file that is too large, given its size and the limit.
        check: Called for each file; may raise an error to stop.

    Yields:
        Lines with the contents of the files, in the order of the archive's directory.

    Raises:
        InvalidUpload: the archive cannot be read, or contains no file.
    """
    archive, row = open_archive(file), 0
    for row, member in enumerate(archive.members(), 1):
        check()
        yield _line(archive, member, row, limit, too_large)
    if not row:
        raise InvalidUpload("The archive holds no file to answer. Send one with images in it.")


def count_members(file: BinaryIO) -> int:
    """Return the number of files in the archive `file`; raise InvalidUpload if it is unreadable."""
    return sum(1 for _ in open_archive(file).members())


def _line(
    archive: ZipArchive,
    member: ZipMember,
    row: int,
    limit: int,
    too_large: Callable[[int, int], ServiceError],
) -> BatchLine:
    line_id = shown_id(show_path(member.path) if member.problem else member.path)
    if member.size > limit and not member.problem:
        refusal = too_large(member.size, limit)
        return BatchLine(row, line_id, "", LineError(refusal.code, refusal.message))
    try:
        return BatchLine(row, line_id, content=archive.read(member, limit))
    except MemberProblem as problem:
        reason = str(problem)
        error = LineError("invalid_file", f"{reason[0].upper()}{reason[1:]}")
        return BatchLine(row, line_id, "", error)
