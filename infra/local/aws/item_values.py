"""Copies, converts and checks the items of moto's DynamoDB faster than moto, with equal results.

For each attribute of an item, moto measured all other attributes again. To copy or convert a
value, it tested for rare types first. Tests compare results with those of unchanged moto.
"""

from __future__ import annotations

import base64
from copy import deepcopy
from typing import Any

from moto.core.parse import JSONParser
from moto.dynamodb import responses
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models import dynamo_type
from moto.dynamodb.models.utilities import bytesize, dynamo_to_dict

_Value: Any = dynamo_type.DynamoType
_Item: Any = dynamo_type.Item
_Attributes: Any = dynamo_type.LimitedSizeDict
_MOST_BYTES = 405_000
"""Limit of an item in moto: between the 400,000 that AWS documents and those that it accepts."""
_AS_THEY_ARE = frozenset((str, bool, int, float, type(None)))
_TEXTS = frozenset(("S", "N"))
_SETS = frozenset(("SS", "NS", "BS"))


def install() -> None:
    """Patch moto in this process."""
    patched: dict[Any, dict[str, object]] = {
        _Value: {"__deepcopy__": copy_value, "size": measure},
        _Item: {"__init__": _make_item, "__deepcopy__": copy_item},
        responses: {"dynamo_to_dict": plain},
    }
    for owner, members in patched.items():
        for name, member in members.items():
            setattr(owner, name, member)


class ItemParser(JSONParser):
    """Parses requests with the same result as moto's parser, but texts and numbers faster."""

    def _parse_structure(self, shape: Any, value: Any) -> Any:
        general: Any = super()
        return text_or_number(shape, value) or general._parse_structure(shape, value)


def text_or_number(shape: Any, value: Any) -> dict[str, Any] | None:
    """Parse an attribute value like botocore; return None if it is not a text or number."""
    if shape.name == "AttributeValue" and value is not None and len(value) == 1:
        [(kind, content)] = value.items()
        if kind in _TEXTS and content is not None:
            return {kind: content}
    return None


def copy_value(value: Any, memo: dict[int, Any]) -> Any:
    """Copy an attribute value without a table of copied objects, because values have no cycles."""
    made = object.__new__(_Value)
    made.type, content = value.type, value.value
    if type(content) is list:
        content = [_copy(part, memo) for part in content]
    elif isinstance(content, dict):
        content = {name: _copy(part, memo) for name, part in content.items()}
    made.value = content
    return made


def copy_item(item: Any, memo: dict[int, Any]) -> Any:
    """Copy an item with its attribute values."""
    made: Any = object.__new__(_Item)
    made.hash_key, made.range_key = _copy(item.hash_key, memo), _copy(item.range_key, memo)
    made.attrs = _Attributes()
    dict.update(made.attrs, {name: _copy(part, memo) for name, part in item.attrs.items()})
    return made


def _copy(part: Any, memo: dict[int, Any]) -> Any:
    if type(part) is str:
        return part
    return copy_value(part, memo) if type(part) is _Value else deepcopy(part, memo)


def _make_item(item: Any, hash_key: Any, range_key: Any, attrs: dict[str, Any]) -> None:
    """Set the members of an item; raise ItemSizeTooLarge as moto does."""
    item.hash_key, item.range_key, item.attrs = hash_key, range_key, _Attributes()
    values = {name: _Value(value) for name, value in attrs.items()}
    # Moto checks after each attribute; the last check is of the whole item.
    if sum(bytesize(name) + measure(value) for name, value in values.items()) > _MOST_BYTES:
        raise ItemSizeTooLarge
    dict.update(item.attrs, values)


def measure(value: Any) -> int:
    """Return the size of an attribute value in bytes, as moto counts them."""
    kind, content = value.type, value.value
    if kind == "L":
        return sum(measure(part) for part in content)
    if kind == "M":
        return sum(bytesize(name) + measure(part) for name, part in content.items())
    if kind in _SETS:
        return sum(_length(kind[0], part) for part in content)
    return _length(kind, content)


def _length(kind: str, content: Any) -> int:
    if kind == "N":
        return len(str(content))
    if type(content) is str:
        return len(content) if content.isascii() else bytesize(content)
    return 1 if isinstance(content, bool) else bytesize(content)


def plain(found: Any) -> Any:
    """Convert a result to JSON values, as moto's `dynamo_to_dict` does."""
    kind = type(found)
    if kind is _Value:
        return _plain_value(found.type, found.value)
    if kind in _AS_THEY_ARE:
        return found
    if kind is dict or kind is _Attributes:
        return {name: plain(part) for name, part in found.items()}
    return [plain(part) for part in found] if kind is list else dynamo_to_dict(found)


def _plain_value(kind: str, content: Any) -> dict[str, Any]:
    if kind == "B":
        return {kind: _bytes(content)}
    if kind == "BS":
        return {kind: [_bytes(part) for part in content]}
    return {kind: plain(content)}


def _bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else base64.b64decode(content)
