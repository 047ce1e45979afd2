"""Names of archive entries: decoding, safe paths, and what to leave out without a word.

Contract section 5, Upload formats.
"""

from __future__ import annotations

import re
import struct
import zlib

MAX_PATH_CHARACTERS = 1_000
"""Longest path of an entry; file systems allow 255 for a name."""
SHOWN_CHARACTERS = 100
"""Characters of a path that a message or a receipt shows; the end says most."""

_UNICODE_PATH = 0x7075
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_JUNK_NAMES = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini"})
_MAC_FOLDER = "__MACOSX"


def decode_name(raw: bytes, extra: bytes, *, is_utf8: bool) -> str:
    """Decode the name of an entry.

    Some tools write UTF-8 without saying so; hardly any CP437 name with umlauts is valid UTF-8.

    Args:
        raw: the name as it is stored.
        extra: the extra fields of the directory's entry.
        is_utf8: flag bit 11.

    Returns:
        The name, with "/" between folders, for backslashes too.
    """
    unicode_name = None if is_utf8 else _find_unicode_path(raw, extra)
    try:
        name = unicode_name or raw.decode("utf-8")
    except UnicodeDecodeError:
        name = raw.decode("cp437")
    return name.replace("\\", "/")


def _find_unicode_path(raw: bytes, extra: bytes) -> str | None:
    """Find Info-ZIP's UTF-8 name, which counts while the other name is the one it was made of."""
    field = find_extra(extra, _UNICODE_PATH)
    if field is None or len(field) < 6 or field[0] != 1:
        return None
    if struct.unpack_from("<L", field, 1)[0] != zlib.crc32(raw):
        return None
    try:
        return field[5:].decode("utf-8")
    except UnicodeDecodeError:
        return None


def find_extra(extra: bytes, kind: int) -> bytes | None:
    """Find an extra field.

    Args:
        extra: all extra fields of an entry; what does not fit is ignored.
        kind: number of the field.

    Returns:
        Its content; None when it is not there.
    """
    at = 0
    while at + 4 <= len(extra):
        found, size = struct.unpack_from("<HH", extra, at)
        if found == kind:
            content = extra[at + 4 : at + 4 + size]
            return content if len(content) == size else None
        at += 4 + size
    return None


def find_path_problem(name: str) -> str:
    """Say why a name is refused; empty for a path that stays inside its archive.

    Args:
        name: as decode_name gave it.
    """
    if len(name) > MAX_PATH_CHARACTERS:
        return (
            f"the path has {len(name):,} characters, the limit is {MAX_PATH_CHARACTERS:,}; "
            "shorten the names of files and folders."
        )
    if _CONTROL.search(name):
        return "the path holds a control character; rename the file."
    if name.startswith("/") or _DRIVE.match(name):
        return "the path is absolute; zip the folder from above it, with paths relative to it."
    if ".." in name.split("/"):
        return 'the path leads out of the archive by ".."; zip the folder from above it.'
    return ""


def clean_path(name: str) -> str:
    """Drop empty and "." steps of a path that has no problem."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def is_junk(path: str) -> bool:
    """Tell what systems leave in archives: __MACOSX, dot files and folders, Thumbs.db.

    Args:
        path: as clean_path gave it; empty for a folder that is the root itself.
    """
    parts = path.split("/")
    return (
        parts[-1].lower() in _JUNK_NAMES
        or _MAC_FOLDER in parts
        or any(part.startswith(".") and part != ".." for part in parts)
    )


def show_path(path: str) -> str:
    """Cut a path for a message or a receipt, and make it printable; its end is kept."""
    shown = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", path)
    return shown if len(shown) <= SHOWN_CHARACTERS else f"…{shown[1 - SHOWN_CHARACTERS :]}"
