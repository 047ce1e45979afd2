"""Generates the client's records from the service's declarations.

`python -m infra.docs` writes the file; a test checks that it is up to date.
"""

from __future__ import annotations

import json
import types
import typing
from pathlib import Path
from typing import Any

import msgspec

from chalicelib.web.records.declared import declared
from chalicelib.web.records.model_records import ReliabilityRecord
from chalicelib.web.records.ocr_records import OcrRecord

FILE = Path(__file__).parents[1] / "client" / "src" / "presage" / "records.py"
_HEAD = '''"""The records of the interface. Written by python -m infra.docs: do not edit."""

from __future__ import annotations

from typing import Any

from presage._records import Record
'''


def source() -> str:
    """Return the text of the client's module of records."""
    # The client reads the items of an evaluation, but not the bins next to them.
    return _HEAD + "".join(_class(item) for item in declared() if item is not ReliabilityRecord)


def name_of(record: type[msgspec.Struct]) -> str:
    """Return a record's name in the client: the service's name without the ending `Record`.

    The names of OCR answers end in `Result` instead.
    """
    is_answer = record in typing.get_args(OcrRecord)
    return record.__name__.replace("Record", "Result" if is_answer else "")


def _class(record: type[msgspec.Struct]) -> str:
    members, hints = msgspec.structs.fields(record), typing.get_type_hints(record)
    is_snake = any("_" in item.encode_name for item in members)
    base = "Record, kw_only=True" + (", rename=None" if is_snake else "")
    lines = [f"\n\nclass {name_of(record)}({base}):", f'    """{record.__doc__}"""', ""]
    lines += [
        f"    {item.name}: {_type(hints[item.name])}{_default(item, hints)}" for item in members
    ]
    return "\n".join(lines) + "\n"


def _default(item: msgspec.structs.FieldInfo, hints: dict[str, Any]) -> str:
    """Return the source text of a member's default; empty if the member has none."""
    if msgspec.UnsetType in typing.get_args(hints[item.name]):
        return " = None"
    if item.default is msgspec.NODEFAULT:
        return ""
    is_text = isinstance(item.default, str)
    return f" = {json.dumps(item.default) if is_text else repr(item.default)}"


def _type(kind: Any) -> str:
    """Return the source text of a type in the client.

    If answers may lack a member, the member's type also accepts None. A `Literal` becomes `str`.
    """
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _union(parts)
    if origin is typing.Literal:
        return "str"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_type, parts))}]"
    if kind is Any or kind is type(None):
        return "Any" if kind is Any else "None"
    return name_of(kind)


def _union(parts: tuple[Any, ...]) -> str:
    """Return a union type as source text; `int` is left out next to `float`."""
    named = [_type(part) for part in parts if part is not msgspec.UnsetType]
    found = [part for part in dict.fromkeys(named) if part != "int" or "float" not in named]
    if msgspec.UnsetType in parts and "None" not in found:
        found.append("None")
    return " | ".join(found)
