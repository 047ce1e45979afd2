"""Reads the archive from which a form template is learned: documents, and their values as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from chalicelib.domain.common.limits import MAX_OCR_BYTES
from chalicelib.domain.jobs.template_learning import (
    MAX_ENTITY_CHARACTERS,
    MAX_LEARNED_DOCUMENTS,
    MAX_LEARNED_ENTITIES,
    MAX_VALUE_CHARACTERS,
    MAX_VALUES_BYTES,
    VALUES_FILE,
)
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.zip_archive import (
    MemberProblem,
    ZipArchive,
    ZipMember,
    open_archive,
)
from chalicelib.formats.texts.json_limits import is_too_deep

_SHAPE = '[{"file": "one.pdf", "values": {"invoice_number": "17"}}]'
_SHOWN = 60


@dataclass(frozen=True)
class LearningDocument:
    """A document of the archive, with the correct values that a person entered for it."""

    name: str
    values: Mapping[str, str]
    """Value of each entity in the document; "" for a field without a value."""
    member: ZipMember


class LearningSet:
    """The documents of an archive and their values. Documents are unpacked one at a time."""

    def __init__(self, archive: ZipArchive, documents: tuple[LearningDocument, ...]) -> None:
        self._archive = archive
        self.documents = documents

    def content(self, document: LearningDocument) -> bytes:
        """Return the content of a document; raise InvalidUpload if it cannot be unpacked."""
        try:
            return self._archive.read(document.member, MAX_OCR_BYTES)
        except MemberProblem as problem:
            raise InvalidUpload(f"{_shown(document.name)}: {problem}") from problem


def read_learning_set(file: BinaryIO) -> LearningSet:
    """Read the values.json of an archive, and find each document that it names.

    Args:
        file: the archive, seekable; it must stay open while documents are read.

    Raises:
        InvalidUpload: the archive cannot be read, has no usable values.json, lacks a document that
            values.json names, or exceeds a limit. The error text says where, and what to do.
    """
    archive = open_archive(file)
    members = {member.path: member for member in archive.members()}
    values = next((path for path in members if path.rpartition("/")[2] == VALUES_FILE), None)
    if values is None:
        raise InvalidUpload(f"The archive has no file {VALUES_FILE}. Add one: {_SHAPE}.")
    entries = _entries(archive, members[values])
    # Names are relative to values.json, because many tools pack a folder as a whole.
    folder = values.removesuffix(VALUES_FILE)
    documents = tuple(
        _document(number, entry, members, folder) for number, entry in enumerate(entries)
    )
    names = [document.name for document in documents]
    for number, name in enumerate(names):
        if name in names[:number]:
            _refuse(f"[{number}].file", f"{_shown(name)} is there twice. Keep one of them.")
    entities = {entity for document in documents for entity in document.values}
    if not 1 <= len(entities) <= MAX_LEARNED_ENTITIES:
        _refuse("", f"it names {len(entities)} entities; 1 to {MAX_LEARNED_ENTITIES} are allowed.")
    return LearningSet(archive, documents)


def _entries(archive: ZipArchive, member: ZipMember) -> list[Any]:
    """Return the elements of the JSON array in values.json."""
    try:
        text = archive.read(member, MAX_VALUES_BYTES).decode("utf-8-sig")
    except MemberProblem as problem:
        raise InvalidUpload(f"{VALUES_FILE}: {problem}") from problem
    except UnicodeDecodeError as error:
        raise InvalidUpload(
            f"{VALUES_FILE}: byte {error.start + 1:,} is not valid UTF-8. Save it as UTF-8."
        ) from error
    if is_too_deep(text):
        _refuse("", f"values are nested too deeply. Write {_SHAPE}.")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidUpload(f"{VALUES_FILE} is not JSON: {error}. Write {_SHAPE}.") from error
    if not isinstance(found, list):
        _refuse("", f"an array was expected. Write {_SHAPE}.")
    if not 1 <= len(found) <= MAX_LEARNED_DOCUMENTS:
        _refuse(
            "",
            f"it has {len(found):,} documents; 1 to {MAX_LEARNED_DOCUMENTS} are allowed. "
            "Choose those that differ most.",
        )
    return found


def _document(
    number: int, entry: object, members: Mapping[str, ZipMember], folder: str
) -> LearningDocument:
    place = f"[{number}]"
    if not isinstance(entry, dict):
        _refuse(place, f"an object was expected. Write {_SHAPE[1:-1]}.")
    name, values = entry.get("file"), entry.get("values")
    if not isinstance(name, str) or not name:
        _refuse(f"{place}.file", "a file name was expected.")
    member = members.get(folder + name) or members.get(name)
    if member is None:
        _refuse(f"{place}.file", f"the archive has no file {_shown(name)}. Add it, or its folder.")
    if not isinstance(values, dict):
        _refuse(f"{place}.values", 'an object was expected, such as {"invoice_number": "17"}.')
    read = {_entity(place, key): _value(f"{place}.values", key, values[key]) for key in values}
    return LearningDocument(name, {k: text for k, text in read.items() if text is not None}, member)


def _entity(place: str, entity: str) -> str:
    name = entity.strip()
    is_text = name.isprintable() and not any("\ud800" <= letter <= "\udfff" for letter in name)
    if not name or len(name) > MAX_ENTITY_CHARACTERS or not is_text:
        _refuse(
            f"{place}.values",
            f"{_shown(entity)} is not an entity; write 1 to {MAX_ENTITY_CHARACTERS} visible "
            "characters.",
        )
    return name


def _value(place: str, entity: str, value: object) -> str | None:
    """Return the value of an entity in values.json as text; None if the value is unknown."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        _refuse(place, f"the value of {_shown(entity)} is not a text. Write it in quotes.")
    text = " ".join(str(value).split())
    if len(text) > MAX_VALUE_CHARACTERS:
        _refuse(
            place,
            f"the value of {_shown(entity)} has {len(text):,} characters, the limit is "
            f"{MAX_VALUE_CHARACTERS:,}. Shorten it.",
        )
    return text


def _shown(text: str) -> str:
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return '"' + cut.encode("utf-8", "backslashreplace").decode() + '"'


def _refuse(place: str, reason: str) -> NoReturn:
    raise InvalidUpload(f"{VALUES_FILE}{place}: {reason}")
