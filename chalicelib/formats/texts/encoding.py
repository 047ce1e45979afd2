"""Finds the encoding of a text file, and opens the file with this encoding.

Only the bytes of the file decide, not its name or HTTP headers.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.code_pages import WIDE, rank_code_pages, take_sample

_CHUNK_BYTES = 1 << 18
# First bytes of a file that are examined for its type.
HEAD_BYTES = 4096
_REMEDY = "Send csv, tsv or json text, saved as UTF-8, or an .xlsx workbook without a password."

_EMPTY = "The file is empty (0 bytes). Send rows of text and label."
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf'\x1c", "a 7z archive"),
    (b"\xd0\xcf\x11\xe0", "an office document of the old kind (.xls, .doc), or with a password"),
    (b"{\\rtf", "a rich text document"),
    (b"SQLite format 3\x00", "a database file"),
    (b"\x7fELF", "a program"),
    (codecs.BOM_UTF32_LE, "UTF-32 text"),
    (codecs.BOM_UTF32_BE, "UTF-32 text"),
)
_MARKUP: tuple[tuple[bytes, str], ...] = (
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<svg", "an SVG image"),
    (b"<?xml", "an XML document"),
)
# Bytes that no text contains: all control characters except backspace to carriage return, and
# escape.
_CONTROLS = bytes([*range(8), *range(14, 27), *range(28, 32)])
_SHORTEST_JUDGED_BYTES = 64  # In fewer bytes a stray control character or two would decide.
_C1 = bytes(range(128, 160))
_ASCII = bytes(range(128))
# With fewer bytes beyond ASCII, signs such as ³ in m³ look like letters of another code page.
_FEWEST_JUDGED = 3
# Name of the encoding of files that are UTF-8 except in a few rows, which are decoded separately.
MIXED = "utf-8-mixed"
# A file is UTF-8 if at most one row in 200 is not valid UTF-8, and at least three times that number
# of rows are valid UTF-8 with characters beyond ASCII.
_ROWS_PER_STRAY = 200
_GOOD_PER_STRAY = 3
# Encodings that are guessed; the first is the default, and of two that fit equally the first wins.
_GUESSED = (
    *("cp1252", "cp1250", "cp850", "mac_roman", "iso8859_2", "cp1254", "cp1251", "koi8_r"),
    *("cp866", "cp1253", "cp1256", "cp874", *WIDE),
)
# Three lines of a mail's header, and names of its fields that few other texts begin with.
_MAIL = re.compile(rb"(?:From .*\n)?(?:[A-Za-z][\w-]*:.*\n(?:[ \t].*\n)*){3}")
_MAIL_NAMES = re.compile(rb"^(?:message-id|mime-version|received|subject|from|to):", re.I | re.M)
_BY_LANGUAGE = {"ja": ("cp932", "euc_jp"), "zh_CN": ("gb18030",), "zh_TW": ("big5", "gb18030")}


def name_foreign_type(head: bytes) -> str:
    """Name the kind of a file that is not text, given its first bytes.

    Args:
        head: The first bytes of the file; 4,096 are enough.

    Returns:
        A name such as "a PNG image"; "" if the file may be text.
    """
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return name
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()[:16].lower()
    for signature, name in _MARKUP:
        if start.startswith(signature):
            return name
    if (mail := _MAIL.match(head)) and len(_MAIL_NAMES.findall(mail[0])) > 1:
        return "a mailbox or an e-mail"
    return _name_unlikely_bytes(head)


def explain_foreign_type(head: bytes, encoding: str = "") -> str:
    """Describe a file that is not text: name its kind, and say what to send instead.

    Args:
        head: The first bytes of the file; 4,096 are enough.
        encoding: The requested encoding; empty for none.

    Returns:
        A sentence; "" if the file may be text.
    """
    if encoding.startswith("utf-16"):
        # UTF-16 has zeros and control characters, which no other text has.
        head = head.decode(encoding, "ignore").encode("utf-8", "ignore")
    foreign = name_foreign_type(head)
    return f"The file is not a text upload: it looks like {foreign}. {_REMEDY}" if foreign else ""


def _name_unlikely_bytes(head: bytes) -> str:
    """Name the kind of a file that contains zeros or control characters; "" for other files.

    Such a file is binary, or UTF-16 without byte order mark.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ""
    if head.count(0) * 10 > len(head) * 3:
        return "UTF-16 text without a byte order mark, or binary data"
    control_count = len(head) - len(head.translate(None, _CONTROLS))
    if len(head) >= _SHORTEST_JUDGED_BYTES and control_count * 20 > len(head):
        return "binary data"
    return ""


def find_encoding(file: BinaryIO, language: str = "") -> str:
    """Return the encoding of a file, detected from all of its bytes in one pass.

    A file in UTF-16 must have a byte order mark. Any other file is UTF-8 if nearly all of it is
    valid UTF-8. Otherwise the encoding is guessed.

    Args:
        file: the file, seekable; it is read from its start, 256 KiB at a time.
        language: language of the dataset, a hint for the guess.

    Returns:
        The name of a codec for open_text.

    Raises:
        InvalidUpload: the file is empty, is not text, or ends within a UTF-16 character.
    """
    file.seek(0)
    head = file.read(HEAD_BYTES)
    if not head:
        raise InvalidUpload(_EMPTY)
    explanation = explain_foreign_type(head)
    if explanation:
        raise InvalidUpload(explanation)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        if not _decodes_as(file, "utf-16"):
            raise InvalidUpload(f"The file is broken UTF-16: it ends in mid-character. {_REMEDY}")
        return "utf-16"
    if _decodes_as(file, "utf-8"):
        return "utf-8-sig"
    return MIXED if find_stray_lines(file) else _guess(file, language)


def check_encoding(file: BinaryIO, encoding: str) -> str:
    """Check that a file has the requested encoding.

    Args:
        file: the file, seekable; it is read from its start, 256 KiB at a time.
        encoding: one of ENCODINGS.

    Returns:
        The name of a codec for open_text.

    Raises:
        InvalidUpload: the file is empty, is not text, or does not have this encoding.
    """
    file.seek(0)
    head = file.read(HEAD_BYTES)
    if not head:
        raise InvalidUpload(_EMPTY)
    explanation = explain_foreign_type(head, encoding)
    if explanation:
        raise InvalidUpload(explanation)
    if encoding.startswith("utf-16"):
        has_mark = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        # Python's codec needs the mark; Windows writes little endian.
        encoding = "utf-16" if has_mark else "utf-16-be" if encoding == "utf-16-be" else "utf-16-le"
    if _decodes_as(file, encoding, "surrogatepass" if encoding.startswith("utf") else "strict"):
        return "utf-8-sig" if encoding == "utf-8" else encoding
    if encoding == "utf-8" and find_stray_lines(file):
        return MIXED
    raise InvalidUpload(
        f"The file is not {encoding}: it has bytes that are not text in it. Leave 'encoding' out "
        "to let it be recognised, or name another encoding."
    )


def find_stray_lines(file: BinaryIO) -> list[int]:
    """Find the lines that are not valid UTF-8, in a file that is UTF-8 except for a few lines.

    Returns:
        The line numbers, from 1; [] if the file does not seem to be UTF-8. Either too many lines
        are invalid, or too few valid lines have characters beyond ASCII.
    """
    file.seek(0)
    stray: list[int] = []
    good = lines = cut = 0
    for lines, line in enumerate(file, start=1):
        if line.isascii():
            continue
        try:
            line.decode("utf-8", "surrogatepass")
            good += 1
        except UnicodeDecodeError as fault:
            stray.append(lines)
            # The file ends inside a character, which says nothing against UTF-8.
            cut = int(fault.reason == "unexpected end of data")
            if len(stray) > good + _ROWS_PER_STRAY:
                return []
    few = len(stray) <= max(1, lines // _ROWS_PER_STRAY)
    return stray if few and good >= max(1, _GOOD_PER_STRAY * (len(stray) - cut)) else []


def _decode_stray(error: UnicodeError) -> tuple[str | bytes, int]:
    """Decode a byte that is not UTF-8 as Windows-1252, for Python's codec error handler.

    A byte that Windows-1252 does not define becomes half of a surrogate pair, so that its row is
    rejected. The same applies to the bytes of an incomplete character at the end of the file.
    """
    try:
        return codecs.lookup_error("surrogatepass")(error)
    except UnicodeError:
        pass
    if isinstance(error, UnicodeDecodeError) and error.reason != "unexpected end of data":
        text = error.object[error.start : error.end].decode("cp1252", "ignore")
        if len(text) == error.end - error.start:
            return text, error.end
    return codecs.lookup_error("surrogateescape")(error)


codecs.register_error(MIXED, _decode_stray)


def _guess(file: BinaryIO, language: str) -> str:
    """Guess a single-byte or Asian encoding of a file from its lines that are not ASCII."""
    file.seek(0)
    lines = list(take_sample(line for line in file if not line.isascii()))
    others = b"".join(line.translate(None, _ASCII) for line in lines)
    is_judged = len(others) >= _FEWEST_JUDGED and len(set(others)) > 1
    ranked = rank_code_pages(lines, _GUESSED) if is_judged else [_GUESSED[0]]
    for encoding in (*_BY_LANGUAGE.get(language, ()), *ranked):
        is_plain = encoding == "cp1252" and not _has_signs(file)
        if not is_plain and _decodes_as(file, encoding, "strict"):
            return encoding
    return "latin-1"


def _has_signs(file: BinaryIO) -> bool:
    """Return whether a file has bytes 0x80 to 0x9F, which Latin-1 uses only for control codes."""
    file.seek(0)
    chunks = iter(lambda: file.read(_CHUNK_BYTES), b"")
    return any(chunk.translate(None, _C1) != chunk for chunk in chunks)


def _decodes_as(file: BinaryIO, encoding: str, errors: str = "surrogatepass") -> bool:
    # Rows with lone surrogates are rejected later, one by one.
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    file.seek(0)
    try:
        while chunk := file.read(_CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def open_text(file: BinaryIO, encoding: str) -> Iterator[TextIO]:
    """Open a binary file from its start as text. Line ends are not converted.

    Args:
        file: the binary file, seekable; it stays open afterwards.
        encoding: Encoding as returned by find_encoding.

    Yields:
        A text stream that recognises LF, CRLF and CR as line ends.
    """
    file.seek(0)
    errors = "surrogatepass" if encoding.startswith("utf") else "strict"
    if encoding == MIXED:
        encoding, errors = "utf-8-sig", MIXED
    stream = io.TextIOWrapper(file, encoding=encoding, errors=errors, newline="")
    try:
        yield stream
    finally:
        # A wrapper that is garbage collected would close the caller's file. The caller may have
        # closed it already if an unfinished reading is collected only now.
        if not file.closed:
            stream.detach()
