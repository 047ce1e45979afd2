"""Reads exports that are zip archives: Dialogflow, Azure custom text classification, Rasa."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

from chalicelib.domain.common.limits import MAX_TEXT_CHARACTERS
from chalicelib.domain.datasets.upload_format import CUSTOM_TEXT, DIALOGFLOW, RASA
from chalicelib.errors import InvalidUpload
from chalicelib.formats.archives.zip_archive import (
    MemberProblem,
    ZipArchive,
    ZipMember,
    looks_like_zip,
    open_archive,
)
from chalicelib.formats.archives.zip_directory import InvalidZip
from chalicelib.formats.texts.tools.export import (
    EntityCount,
    ExportFault,
    ExportFile,
    Pair,
    Tool,
    ToolExport,
    decode,
    items_of,
    member,
    text_of,
)
from chalicelib.formats.texts.tools.json_tools import JSON_TOOLS, is_usersays, parse_json
from chalicelib.formats.texts.tools.yaml_tools import YAML_TOOLS, has_utterances, parse_yaml

# All files of an archive together, unpacked.
MAX_UNPACKED_BYTES = 100 * 1024 * 1024
_MAX_FILE_BYTES = 25 * 1024 * 1024
_NAME_AT = 30
_YAML = (".yml", ".yaml")
_FIRST_FILES = (b".json", b".txt", b".yml", b".yaml", b"/")
_SIGNS = {
    DIALOGFLOW: re.compile(r'"(?:isTemplate|userSays|trainingPhrases)"\s*:'),
    CUSTOM_TEXT: re.compile(r'"projectKind"\s*:\s*"\w*LabelClassification"'),
}
_RASA = next(tool for tool in YAML_TOOLS if tool.kind == RASA)
_CUSTOM = next(tool for tool in JSON_TOOLS if tool.kind == CUSTOM_TEXT)


def may_be_zip_export(head: bytes) -> bool:
    """Return whether a file may be a zip export, judged by the first name in the archive."""
    if not looks_like_zip(head) or len(head) < _NAME_AT:
        return False
    [length] = struct.unpack_from("<H", head, _NAME_AT - 4)
    return head[_NAME_AT : _NAME_AT + length].endswith(_FIRST_FILES)


def is_zip_export(file: BinaryIO) -> bool:
    """Return whether a file is a zip archive that contains the files of a known export."""
    file.seek(0)
    if not looks_like_zip(file.read(4)):
        return False
    try:
        return _kind_of(open_archive(file)) != ""
    except (InvalidZip, InvalidUpload):
        return False


def find_zip_export(source: ExportFile) -> ToolExport | None:
    """Return the export in a zip archive; None if no known tool wrote the archive."""
    source.file.seek(0)
    if not looks_like_zip(source.file.read(4)):
        return None
    try:
        archive = open_archive(source.file)
    except InvalidZip as problem:
        raise InvalidUpload(f"The file is not a usable zip archive: {problem.cause}") from None
    kind = _kind_of(archive)
    tool = next((tool for tool in ZIP_TOOLS if tool.kind == kind), None)
    return ToolExport(tool, _Files(archive, source)) if tool else None


def _kind_of(archive: ZipArchive) -> str:
    files = list(archive.members())
    documents = [found for found in files if found.path.endswith(".json")]
    intents = [found for found in documents if "intents/" in found.path]
    has_texts = any(found.path.endswith(".txt") for found in files)
    kind = DIALOGFLOW if intents else CUSTOM_TEXT if len(documents) == 1 and has_texts else ""
    # A Rasa project may have JSON files and texts of other tools.
    if kind and any(map(_SIGNS[kind].search, _texts_of(archive, intents or documents))):
        return kind
    settings = [found for found in files if found.path.endswith(_YAML)]
    return RASA if any(map(has_utterances, _texts_of(archive, settings))) else kind


def _texts_of(archive: ZipArchive, files: list[ZipMember]) -> Iterator[str]:
    """Yield the texts of those `files` that can be read, up to the size limit of an export."""
    left = MAX_UNPACKED_BYTES
    for found in files:
        left -= found.entry.size_bytes
        if left < 0:
            return
        with suppress(MemberProblem):
            yield decode(archive.read(found, _MAX_FILE_BYTES), "replace")


class _Files:
    """Reads the files of an archive. Their total unpacked size is limited."""

    def __init__(self, archive: ZipArchive, source: ExportFile) -> None:
        self._archive, self.check = archive, source.check
        self._left = MAX_UNPACKED_BYTES
        self.members = {member.path: member for member in archive.members()}

    def read(self, member: ZipMember, sign: Callable[[str], bool] = bool) -> str:
        """Return the text of a file; "" if `sign` returns False for the text.

        Raises:
            ExportFault: the file cannot be read, is not UTF-8, or exceeds the total size limit.
        """
        self.check()
        self._left -= member.entry.size_bytes
        if self._left < 0:
            raise ExportFault("its files unpack to more than 100 MB; export a part of it")
        try:
            content = self._archive.read(member, _MAX_FILE_BYTES)
            return decode(content) if sign(decode(content, "replace")) else ""
        except (MemberProblem, UnicodeDecodeError) as problem:
            raise ExportFault(f"{member.path[:100]}: {problem}") from None


def _read_agent(files: _Files, entities: EntityCount) -> Iterator[Pair]:
    for path, found in files.members.items():
        if "intents/" not in path or not path.endswith(".json"):
            continue
        document = parse_json(files.read(found))
        stem, mark, _ = path.rpartition("_usersays_")
        if mark and is_usersays(document):
            about = files.members.get(f"{stem}.json")
            own = member(parse_json(files.read(about)), "name") if about else None
            label = own if isinstance(own, str) else stem.rpartition("/")[2]
            for item in items_of(document):
                yield entities.join(item.get("data")), label
        else:
            yield from _read_intent(path, document, entities)


def _read_intent(path: str, document: Any, entities: EntityCount) -> Iterator[Pair]:
    """Yield each phrase in a document with its intent. In Dialogflow CX, `path` has the intent."""
    if isinstance(member(document, "userSays"), list):
        for item in items_of(document["userSays"]):
            yield entities.join(item.get("data")), text_of(document, "name")
    elif isinstance(member(document, "trainingPhrases"), list):
        for item in items_of(document["trainingPhrases"]):
            yield entities.join(item.get("parts")), path.split("/")[-3:][0]


def _read_documents(files: _Files, entities: EntityCount) -> Iterator[Pair]:
    path = next(path for path in files.members if path.endswith(".json"))
    document = parse_json(files.read(files.members[path]))
    if not _CUSTOM.recognise(document):
        raise ExportFault(f"{path[:100]} has no 'assets' with 'documents'")
    by_name = {path.rpartition("/")[2]: found for path, found in files.members.items()}
    for item in items_of(member(document, "assets", "documents")):
        place = text_of(item, "location")
        found = files.members.get(place) or by_name.get(place.rpartition("/")[2])
        if found is None:
            raise ExportFault(f"the archive has no file {place[:100]!r}; add it")
        # A cut document is still above the limit, so that its row is rejected with a reason.
        yield files.read(found)[: 2 * MAX_TEXT_CHARACTERS], _label_of(item)


def _label_of(item: Any) -> str:
    one = member(item, "class", "category")
    if isinstance(one, str):
        return one
    several = [text_of(each, "category") for each in items_of(item.get("classes") or [])]
    return "|".join(several)


def _read_project(files: _Files, entities: EntityCount) -> Iterator[Pair]:
    for path, found in files.members.items():
        if path.endswith(_YAML) and (text := files.read(found, has_utterances)):
            yield from _RASA.read(parse_yaml(text, files.check), entities)


ZIP_TOOLS = (
    Tool(DIALOGFLOW, "Dialogflow", (), lambda _: True, _read_agent),
    Tool(CUSTOM_TEXT, _CUSTOM.name, (), lambda _: True, _read_documents),
    Tool(RASA, _RASA.name, (), lambda _: True, _read_project),
)
