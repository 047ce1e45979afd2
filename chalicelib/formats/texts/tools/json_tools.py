"""Reads exports that are one JSON value: of Rasa, Snips, LUIS, Azure, Dialogflow and Watson."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chalicelib.domain.datasets.upload_format import (
    CLU,
    CUSTOM_TEXT,
    DIALOGFLOW,
    LUIS,
    RASA,
    SNIPS,
    WATSON,
)
from chalicelib.formats.texts.json_limits import is_too_deep
from chalicelib.formats.texts.tools.export import (
    EntityCount,
    ExportFault,
    ExportFile,
    Pair,
    Tool,
    ToolExport,
    items_of,
    member,
    text_of,
)

# Objects, lists and their members: each takes many times its bytes when it is parsed.
MAX_MEMBERS = 2_000_000
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)


def find_json_export(source: ExportFile) -> ToolExport | None:
    """Return the export in a file of one JSON value; None if no known tool wrote the file."""
    if not source.head.lstrip().startswith(("{", "[")):
        return None
    signed = [tool for tool in JSON_TOOLS if all(sign in source.text for sign in tool.signs)]
    if not signed:
        return None
    try:
        document = parse_json(source.text)
    except ExportFault as fault:
        raise signed[0].refuse(fault) from None
    for tool in signed:
        if tool.recognise(document):
            return ToolExport(tool, document)
    return None


def parse_json(text: str) -> Any:
    """Parse a text of one JSON value; return None if more values follow, as in JSON lines.

    Raises:
        ExportFault: the text is not JSON, or exceeds a limit.
    """
    text = text.removeprefix("\ufeff").strip()
    # JSON lines are not an export. Parsing the first line is enough to detect them.
    first = text.partition("\n")[0]
    if first == text or not _is_value(first):
        count = text.count(",") + text.count("{") + text.count("[")
        if count > MAX_MEMBERS:
            raise ExportFault(f"it has more than {MAX_MEMBERS:,} members; export a part of it")
        if is_too_deep(text):
            raise ExportFault("the JSON is nested too deeply")
        try:
            value, end = _DECODER.raw_decode(text)
        except (json.JSONDecodeError, RecursionError) as problem:
            raise ExportFault(f"the JSON is not valid: {problem}") from None
        return value if end == len(text) else None
    return None


def _is_value(line: str) -> bool:
    try:
        _DECODER.decode(line)
    except (json.JSONDecodeError, RecursionError):
        return False
    return True


def _read_rasa(document: Any, entities: EntityCount) -> Iterator[Pair]:
    for item in items_of(member(document, "rasa_nlu_data", "common_examples")):
        entities.add(item.get("entities"))
        yield text_of(item, "text"), text_of(item, "intent")


def _read_snips(document: Any, entities: EntityCount) -> Iterator[Pair]:
    for name, intent in document["intents"].items():
        for item in items_of(member(intent, "utterances")):
            yield entities.join(item.get("data")), name


def _read_luis(document: Any, entities: EntityCount) -> Iterator[Pair]:
    for item in items_of(document["utterances"]):
        entities.add(item.get("entities"))
        yield text_of(item, "text"), text_of(item, "intent")


def _read_clu(document: Any, entities: EntityCount) -> Iterator[Pair]:
    yield from _read_luis(document["assets"], entities)


def _read_custom_text(document: Any, entities: EntityCount) -> Iterator[Pair]:
    raise ExportFault(
        "it names documents, and their texts are other files; send a zip of the export and the "
        "text files"
    )
    yield "", ""


def _read_dialogflow(document: Any, entities: EntityCount) -> Iterator[Pair]:
    if isinstance(document, list):
        raise ExportFault("it has no name of the intent; send the zip of the whole agent")
    for item in items_of(document["userSays"]):
        yield entities.join(item.get("data")), text_of(document, "name")


def _watson_intents(document: Any) -> Any:
    return member(document, "intents") or member(document, "workspace", "intents")


def _read_watson(document: Any, entities: EntityCount) -> Iterator[Pair]:
    for intent in items_of(_watson_intents(document)):
        for item in items_of(intent.get("examples") or []):
            entities.add(item.get("mentions"))
            yield text_of(item, "text"), text_of(intent, "intent")


def is_usersays(document: Any) -> bool:
    """Return whether a document is a list of Dialogflow's training phrases."""
    return (
        isinstance(document, list)
        and all(isinstance(item, dict) for item in document)
        and any(isinstance(i.get("data"), list) and "isTemplate" in i for i in document)
    )


JSON_TOOLS = (
    Tool(
        RASA,
        "Rasa",
        ('"rasa_nlu_data"',),
        lambda document: member(document, "rasa_nlu_data") is not None,
        _read_rasa,
    ),
    Tool(
        SNIPS,
        "Snips",
        ('"intents"', '"utterances"', '"data"'),
        lambda document: isinstance(member(document, "intents"), dict) and "entities" in document,
        _read_snips,
    ),
    Tool(
        LUIS,
        "LUIS",
        ('"luis_schema_version"',),
        lambda document: "utterances" in document if isinstance(document, dict) else False,
        _read_luis,
    ),
    Tool(
        CLU,
        "Azure's conversational language understanding",
        ('"projectKind"', '"Conversation"'),
        lambda document: member(document, "assets", "utterances") is not None,
        _read_clu,
    ),
    Tool(
        CUSTOM_TEXT,
        "Azure's custom text classification",
        ('"projectKind"', "LabelClassification"),
        lambda document: member(document, "assets", "documents") is not None,
        _read_custom_text,
    ),
    Tool(
        DIALOGFLOW,
        "Dialogflow",
        ('"userSays"',),
        lambda document: isinstance(member(document, "userSays"), list),
        _read_dialogflow,
    ),
    Tool(
        WATSON,
        "Watson Assistant",
        ('"intents"', '"examples"', '"intent"'),
        lambda document: isinstance(_watson_intents(document), list),
        _read_watson,
    ),
    Tool(DIALOGFLOW, "Dialogflow", ('"isTemplate"',), is_usersays, _read_dialogflow),
)
