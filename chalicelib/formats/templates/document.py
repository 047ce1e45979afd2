"""The bytes or text of a form template as a JSON object."""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping
from typing import NoReturn

from chalicelib.errors import InvalidParameter
from chalicelib.formats.json_depth import MAX_DEPTH, is_too_deep
from chalicelib.formats.texts.encoding import HEAD_BYTES, name_foreign_type

MAX_TEMPLATE_BYTES = 1_000_000
"""Largest form template."""

PARAMETER = "formTemplate"
_SHOWN_CHARACTERS = 60
_LONGEST_INTEGER = 20
_SHAPE = (
    'Send {"version": "1.0", "keys": [{"key": {"entity": "…", "keyVariations": ["…"], '
    '"entityTypes": []}}], "headerCells": [], "tableRecognition": false}.'
)
_TOO_DEEP = f"values are nested too deeply, in more than {MAX_DEPTH} arrays and objects. {_SHAPE}"


def refuse(reason: str) -> NoReturn:
    """Raise the error that says what is wrong with the template.

    Args:
        reason: place, what is wrong, the value and the remedy.

    Raises:
        InvalidParameter: always.
    """
    raise InvalidParameter(PARAMETER, reason)


def show(value: object) -> str:
    """Return a value of the template as an error names it.

    Args:
        value: anything that JSON may hold.

    Returns:
        A text in quotes, cut after 60 characters; a number or name as JSON writes it; only the
        kind of an array or object. Always encodable as UTF-8.
    """
    if isinstance(value, str):
        cut = value if len(value) <= _SHOWN_CHARACTERS else value[:_SHOWN_CHARACTERS] + "…"
        return '"' + cut.encode("utf-8", "backslashreplace").decode() + '"'
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return f"an array of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value!r:.20}" if isinstance(value, int | float) else type(value).__name__


def load_template(source: bytes | str | Mapping[str, object]) -> Mapping[str, object]:
    """Read the object that a template is.

    Args:
        source: a file in UTF-8 (with or without byte order mark) or in UTF-16 with its mark; or
            JSON text; or the object of a JSON body.

    Returns:
        The object; its members are not looked at yet.

    Raises:
        InvalidParameter: it is too large, in no known encoding, no JSON, or no object.
    """
    if isinstance(source, Mapping):
        _measure(source)
        return source
    if isinstance(source, str):
        _limit(len(source.encode("utf-8", "surrogatepass")))
        value = _parse(source)
    else:
        _limit(len(source))
        value = _parse(_decode(bytes(source)))
    if not isinstance(value, Mapping):
        refuse(f"an object was expected, it is {show(value)}. {_SHAPE}")
    return value


def _limit(size: int) -> None:
    """Refuse a template that is too large."""
    if size > MAX_TEMPLATE_BYTES:
        refuse(
            f"it has {size:,} bytes, the limit is {MAX_TEMPLATE_BYTES:,}. Divide it into several "
            "templates and send one call for each."
        )


def _measure(source: Mapping[str, object]) -> None:
    """Hold an object that came in a JSON body to the same limits as a file."""
    try:
        text = json.dumps(source, ensure_ascii=False)
    except RecursionError:
        refuse(_TOO_DEEP)
    if is_too_deep(text):
        refuse(_TOO_DEEP)
    _limit(len(text.encode("utf-8", "surrogatepass")))


def _decode(data: bytes) -> str:
    """Return the text of a file."""
    if not data.strip():
        refuse(f"the file is empty. {_SHAPE}")
    foreign = name_foreign_type(data[:HEAD_BYTES])
    if foreign:
        refuse(f"it looks like {foreign}. Send JSON, saved as UTF-8.")
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_utf16 else "utf-8"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        refuse(
            f"byte {error.start + 1:,} is not valid {encoding.upper()}. Save the template as UTF-8."
        )


def _parse(text: str) -> object:
    """Return the JSON value of a text."""
    stripped = text.removeprefix("\ufeff").strip()
    if not stripped:
        refuse(f"it is empty. {_SHAPE}")
    if is_too_deep(stripped):
        refuse(_TOO_DEEP)
    try:
        return json.loads(
            stripped,
            object_pairs_hook=_read_members,
            parse_constant=_refuse_constant,
            parse_int=_read_integer,
        )
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        refuse(
            f"it is no JSON: {reason} at line {error.lineno}, column {error.colno}, before "
            f"{show(stripped[error.pos : error.pos + 20])}. {_SHAPE}"
        )


def _read_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object, and refuse one that names a member twice: which one counts is unclear."""
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            refuse(f"an object has the member {show(name)} twice. Keep one of them.")
        members[name] = value
    return members


def _refuse_constant(name: str) -> NoReturn:
    """Refuse what Python reads as a number but JSON does not know."""
    refuse(f"{name} is no JSON value. Take it out.")


def _read_integer(digits: str) -> int | float:
    """Read an integer in linear time, however many digits it has."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)
