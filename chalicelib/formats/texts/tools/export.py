"""Classes and functions that all readers of exports share."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

from chalicelib.errors import InvalidUpload
from chalicelib.formats.texts.encoding import find_encoding, open_text

_HEAD_BYTES = 4096
# Members of a part of a text that is an entity, in exports of different tools.
_ENTITY_KEYS = frozenset(("entity", "slot_name", "alias", "meta", "parameterId"))
# Text and label of an utterance.
Pair = tuple[str, str]


class ExportFault(ValueError):
    """An export cannot be read. The message says why."""


@dataclass
class ExportFile:
    """An uploaded file that may be an export of another tool."""

    file: BinaryIO
    check: Callable[[], None]
    """Called often; may raise an error to stop."""

    @cached_property
    def head(self) -> str:
        """Return the first characters of the file, without a byte order mark."""
        self.file.seek(0)
        return decode(self.file.read(_HEAD_BYTES), "ignore")

    @cached_property
    def text(self) -> str:
        """Return the whole text of the file. The limit for uploads of texts is 25 MB."""
        with open_text(self.file, find_encoding(self.file)) as stream:
            return stream.read()


@dataclass
class EntityCount:
    """Counts the entities in example texts. Entities are not imported."""

    count: int = 0

    def add(self, entities: object) -> None:
        """Add the number of `entities` to the count; ignore a value that is not a list."""
        self.count += len(entities) if isinstance(entities, list) else 0

    def join(self, spans: object) -> str:
        """Return the joined text of the list `spans`, and count the spans that are entities."""
        texts = []
        for span in items_of(spans):
            texts.append(text_of(span, "text"))
            self.count += not _ENTITY_KEYS.isdisjoint(span)
        return "".join(texts)


# Yields the utterances of a document, and counts entities.
Reader = Callable[[Any, EntityCount], Iterator[Pair]]


@dataclass(frozen=True)
class Tool:
    """Another tool, whose exports can be read."""

    kind: str
    """Name of the format in the API."""
    name: str
    """Name of the tool in messages."""
    signs: tuple[str, ...]
    """Strings by which even a damaged export of the tool is recognised."""
    recognise: Callable[[Any], bool]
    """Returns whether a parsed document is an export of the tool."""
    read: Reader

    def refuse(self, fault: object) -> InvalidUpload:
        """Return the error for an export that cannot be read. The error text names the tool."""
        return InvalidUpload(
            f"The file is an export of {self.name} that cannot be read: {fault}. Export it again, "
            "or send csv with the columns text and label."
        )


@dataclass(frozen=True)
class ToolExport:
    """An export that was recognised, with the tool that wrote it."""

    tool: Tool
    document: Any


def decode(content: bytes, errors: str = "strict") -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark; return the text without the mark."""
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_wide else "utf-8-sig", errors)


def items_of(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield the elements of a list of objects; raise ExportFault if `value` is not such a list."""
    if not isinstance(value, list):
        raise ExportFault("a list of objects is missing")
    for number, item in enumerate(value, 1):
        if not isinstance(item, dict):
            raise ExportFault(f"item {number} of a list is not an object")
        yield item


def text_of(item: Mapping[str, Any], key: str) -> str:
    """Return the text of the member `key`; "" if it is missing or null.

    Raises:
        ExportFault: the member is not a text.
    """
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ExportFault(f"the member '{key}' is not a text")
    return value


def member(value: object, *keys: str) -> Any:
    """Return the member of nested objects that `keys` lead to; None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
