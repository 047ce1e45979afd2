"""Converts fields and query parameters to the struct that an operation declares.

Error texts name the field, the expected value and the received value, as msgspec reports them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from chalicelib.domain.common.decoding import prepare
from chalicelib.errors import BadRequest, InvalidParameter, MissingParameter

Form = TypeVar("Form", bound=msgspec.Struct)

_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`(?: - at `(?P<at>.*)`)?")
_PROBLEM = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<at>.*)`)?", re.DOTALL)
_TYPE = re.compile(r"Expected `(?P<expected>[^`]*)`, got `(?P<got>[^`]*)`")
_LIMIT = re.compile(r"Expected `(?P<expected>\w+)` (?P<limit>[<>]=?) (?P<number>\S+)")
_LENGTH = re.compile(r"Expected `(?P<expected>\w+)` of length (?P<limit>[<>]=?) (?P<number>\d+)")
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
# Larger absolute values are read as this one, which is above every limit.
LARGEST_WHOLE = 2**63

_WHOLE = re.compile(
    r"(?P<sign>-?)(?P<whole>[0-9]+)(?:\.(?P<part>[0-9]+))?(?:[eE](?P<power>[+-]?[0-9]+))?", re.ASCII
)
# Because int() takes time that grows with the square of the number of digits.
_LONGEST_NUMBER = 32
# Fails the conversion to a number or boolean; the error shows the sent value.
_UNREADABLE = ""
_LIMITS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


def whole_number(value: object) -> int | None:
    """Convert a value such as 12, 12.0 or "1.2e1" to a whole number; return None for other values.

    The result is limited to -2^63 to 2^63. A text of more than 32 characters gives None.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return max(-LARGEST_WHOLE, min(value, LARGEST_WHOLE))
    # Some clients have only one type of number, and write 12.0 for an id.
    if isinstance(value, float):
        if not value.is_integer():
            return None
        return int(max(-float(LARGEST_WHOLE), min(value, float(LARGEST_WHOLE))))
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    if match is None or len(match[0]) > _LONGEST_NUMBER:
        return None
    part = match["part"] or ""
    digits = match["whole"] + part
    significant = digits.rstrip("0")
    zeros = int(match["power"] or 0) - len(part) + len(digits) - len(significant)
    if zeros < 0 and significant:
        return None
    # The power is only computed if the number is small: 1e999999999 would fill the memory.
    is_long = len(significant.lstrip("0")) + zeros > len(str(LARGEST_WHOLE))
    number = (
        LARGEST_WHOLE
        if significant and is_long
        else int(significant or 0) * 10 ** (zeros if significant else 0)
    )
    return min(number, LARGEST_WHOLE) * (-1 if match["sign"] else 1)


def convert(values: Mapping[str, Any], form: type[Form], prefix: str = "") -> Form:
    """Convert fields to the struct type `form`. Numbers and booleans may be sent as texts.

    Unknown fields are ignored. `prefix` is the name of the containing field and a dot. Error texts
    add it before field names.

    Raises:
        BadRequest: a field is missing or its value is not allowed.
    """
    prepare(form)
    try:
        return msgspec.convert(_unambiguous(values, form), form, strict=False)
    except msgspec.ValidationError as problem:
        _convert_items(values, form, prefix)
        raise _readable(str(problem), values, form, prefix) from problem


def _unambiguous(values: Mapping[str, Any], form: type[msgspec.Struct]) -> dict[str, Any]:
    """Convert whole numbers; replace values of a wrong type by a value that msgspec refuses."""
    read = dict(values)
    for name, kind in _checked_fields(form).items():
        sent = values.get(name)
        if _is_struct(kind):
            if isinstance(sent, list):
                read[name] = [
                    _unambiguous(item, kind) if isinstance(item, dict) else item for item in sent
                ]
        elif kind is bool:
            # msgspec reads 1 and 0 as booleans.
            if isinstance(sent, int | float) and not isinstance(sent, bool):
                read[name] = _UNREADABLE
        elif kind is int and isinstance(sent, str | int | float):
            number = whole_number(sent)
            read[name] = _UNREADABLE if number is None else number
    return read


def _convert_items(values: Mapping[str, Any], form: type[msgspec.Struct], prefix: str) -> None:
    """Raise BadRequest if an element of a list cannot be converted; the message has its index."""
    # msgspec does not report the index.
    for name, kind in _checked_fields(form).items():
        sent = values.get(name)
        if _is_struct(kind) and isinstance(sent, list):
            for place, item in enumerate(sent):
                at = f"{prefix}{name}[{place}]"
                if not isinstance(item, Mapping):
                    raise InvalidParameter(at, f"expected an object, got {_shown(item, '')}.")
                convert(item, kind, f"{at}.")


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


@cache
def field_names(form: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the names that a form's fields have in requests."""
    return tuple(declared.encode_name for declared in msgspec.structs.fields(form))


@cache
def _checked_fields(form: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the type of each integer or boolean field, and the item type of each list field."""
    found: dict[str, Any] = {}
    for declared in msgspec.structs.fields(form):
        kinds = _kinds(declared.type)
        items = [get_args(one)[0] for one in kinds if get_origin(one) is list]
        if items:
            found[declared.encode_name] = items[0]
        elif not kinds >= {int, bool} and str not in kinds and kinds & {int, bool}:
            found[declared.encode_name] = int if int in kinds else bool
    return found


def _kinds(declared: Any) -> set[Any]:
    """Return a declared type and, recursively, its type arguments."""
    return {declared}.union(*map(_kinds, get_args(declared)))


def _readable(
    text: str, values: Mapping[str, Any], form: type[msgspec.Struct], prefix: str
) -> BadRequest:
    """Return the error for the caller, made from an error text of msgspec."""
    missing = _MISSING.fullmatch(text)
    if missing:
        texts = getattr(form, "missing_texts", {})
        return MissingParameter(prefix + missing["name"], texts.get(missing["name"]))
    problem = _PROBLEM.fullmatch(text)
    what, at = (problem["what"], problem["at"] or "") if problem else (text, "")
    name = re.split(r"[.\[]", at)[0]
    allowed = _allowed(form, name)
    if what.startswith("Invalid enum value") or allowed:
        shown = _shown(values.get(name), "")
        return InvalidParameter(prefix + name, f"{shown} is not one of {', '.join(allowed)}.")
    return InvalidParameter(prefix + (name or "body"), _reason(what, values.get(name)))


def _allowed(form: type[msgspec.Struct], name: str) -> list[str]:
    """Return the allowed values of a field with fixed choices; [] for other fields."""
    for declared in msgspec.structs.fields(form):
        if declared.encode_name == name:
            return [
                str(value)
                for choice in _kinds(declared.type)
                if get_origin(choice) is Literal
                for value in get_args(choice)
            ]
    return []


def _reason(problem: str, value: object) -> str:
    """Return the sentence that says what was expected and what was received."""
    mismatch = _TYPE.match(problem)
    if mismatch:
        expected = _words(mismatch["expected"])
        return f"expected {expected}, got {_shown(value, mismatch['got'])}."
    limit = _LIMIT.match(problem)
    if limit:
        bound = f"{_LIMITS[limit['limit']]} {limit['number'].removesuffix('.0')}"
        return f"it must be {bound}, got {_shown(value, '')}."
    length = _LENGTH.match(problem)
    if length:
        bound = f"{_LIMITS[length['limit']]} {length['number']}"
        size = len(value) if isinstance(value, str | list) else 0
        return f"it must have {bound} characters, got {size}."
    return f"{problem[:200]}."


def _words(expected: str) -> str:
    """Return the name of an expected type in words."""
    kinds = [kind for kind in expected.split(" | ") if kind != "null"]
    return " or ".join(_WORDS.get(kind, kind) for kind in kinds)


def _shown(value: object, kind: str) -> str:
    """Return a received value for an error text, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value[:40]}'" if value.isprintable() else "a text"
    if isinstance(value, int | float):
        return f"{value:.10g}"
    return _words(kind) if kind in _WORDS else "another kind of value"
