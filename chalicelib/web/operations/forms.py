"""Turns fields and query parameters into an operation's declared struct, or says what is wrong.

The texts are made from msgspec's findings: field, what was expected, what came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

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
_LIMITS = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than"}


def convert(values: Mapping[str, Any], form: type[Form], prefix: str = "") -> Form:
    """Convert fields to a struct; decimal strings count as numbers, booleans do not.

    Args:
        values: fields by name; unknown ones are ignored.
        form: the declared struct.
        prefix: name of the field that holds these, with a dot, for the texts.

    Raises:
        BadRequest: a field is missing or its value is not allowed.
    """
    try:
        return msgspec.convert(values, form, strict=False)
    except msgspec.ValidationError as problem:
        raise _readable(str(problem), values, form, prefix) from problem


def _readable(
    text: str, values: Mapping[str, Any], form: type[msgspec.Struct], prefix: str
) -> BadRequest:
    """Make the text for a person."""
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
        return InvalidParameter(prefix + name, f"{shown} is none of {', '.join(allowed)}.")
    return InvalidParameter(prefix + (name or "body"), _reason(what, values.get(name)))


def _allowed(form: type[msgspec.Struct], name: str) -> list[str]:
    """List the values that a field of fixed choices takes; none for any other field."""
    for declared in msgspec.structs.fields(form):
        if declared.encode_name == name:
            choices = (declared.type, *get_args(declared.type))
            return [
                str(value)
                for choice in choices
                if get_origin(choice) is Literal
                for value in get_args(choice)
            ]
    return []


def _reason(what: str, value: object) -> str:
    """Say what was expected and what came."""
    mismatch = _TYPE.match(what)
    if mismatch:
        expected = _words(mismatch["expected"])
        return f"expected {expected}, got {_shown(value, mismatch['got'])}."
    limit = _LIMIT.match(what)
    if limit:
        bound = f"{_LIMITS[limit['limit']]} {limit['number'].removesuffix('.0')}"
        return f"it must be {bound}, got {_shown(value, '')}."
    length = _LENGTH.match(what)
    if length:
        bound = f"{_LIMITS[length['limit']]} {length['number']}"
        size = len(value) if isinstance(value, str | list) else 0
        return f"it must have {bound} characters, got {size}."
    return f"{what[:200]}."


def _words(expected: str) -> str:
    """Name a type for a person."""
    kinds = [kind for kind in expected.split(" | ") if kind != "null"]
    return " or ".join(_WORDS.get(kind, kind) for kind in kinds)


def _shown(value: object, kind: str) -> str:
    """Show a value that was sent, shortened."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value[:40]}'" if value.isprintable() else "a text"
    if isinstance(value, int | float):
        return f"{value:.10g}"
    return _words(kind) if kind in _WORDS else "another kind of value"
