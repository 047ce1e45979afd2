"""Reads exports in YAML: Rasa and Snips.

Documents are built from the events of the parser. So aliases are refused before they are expanded.
Otherwise, aliases could expand a small file to gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from chalicelib.domain.datasets.upload_format import RASA, SNIPS
from chalicelib.formats.texts.json_limits import MAX_DEPTH
from chalicelib.formats.texts.tools.export import (
    EntityCount,
    ExportFault,
    ExportFile,
    Pair,
    Tool,
    ToolExport,
    items_of,
    text_of,
)

MAX_EVENTS = 1_000_000
_CHECK_EVENTS = 1_000
_STARTS: dict[str, Callable[[], Any]] = {"SequenceStartEvent": list, "MappingStartEvent": dict}
_ENDS = frozenset(("SequenceEndEvent", "MappingEndEvent"))
_FIRST_LINE = re.compile(r"---|%YAML|[\w\"'-]+:(?:\s|\Z)")
_RASA = re.compile(r"^nlu:\s", re.MULTILINE)
_SNIPS = re.compile(r"^type:\s*intent\b", re.MULTILINE)
# [Berlin](city), [Berlin]{"entity": "city"} and Snips' [city:place](Berlin).
_RASA_ENTITY = re.compile(r"\[([^\[\]\n]+)\](?:\([^()\n]*\)|\{[^{}\n]*\})")
_SNIPS_ENTITY = re.compile(r"\[[\w:.@/ -]+\](?:\(([^()\n]*)\))?")


def find_yaml_export(source: ExportFile) -> ToolExport | None:
    """Return the export in a YAML file; None if no known tool wrote the file."""
    lines = (line for line in source.head.splitlines() if line.strip() and not line.startswith("#"))
    if not _FIRST_LINE.match(next(lines, "")):
        return None
    text = source.text
    signs = {RASA: _RASA.search(text), SNIPS: _SNIPS.search(text)}
    tool = next((tool for tool in YAML_TOOLS if signs[tool.kind]), None)
    if tool is None or not all(sign in text for sign in tool.signs):
        return None
    try:
        documents = parse_yaml(text, source.check)
    except ExportFault as fault:
        raise tool.refuse(fault) from None
    return ToolExport(tool, documents)


def has_utterances(text: str) -> bool:
    """Return whether a YAML file of a Rasa project has utterances, and not rules or settings."""
    return bool(_RASA.search(text))


def parse_yaml(text: str, check: Callable[[], None]) -> list[Any]:
    """Parse the documents in a YAML text. Documents consist only of lists, dicts and texts.

    Raises:
        ExportFault: the text is not YAML, has aliases, or exceeds a limit.
    """
    # Imported late because no other upload of texts needs it.
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    builder = _Builder()
    try:
        for count, event in enumerate(yaml.parse(text, Loader=loader)):
            if count % _CHECK_EVENTS == 0:
                check()
            builder.take(event, count)
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        shown = " ".join(str(problem).split())[:200]
        raise ExportFault(shown if isinstance(problem, ExportFault) else f"YAML, {shown}") from None
    return builder.documents


class _Builder:
    """Builds documents from the events of a YAML parser."""

    def __init__(self) -> None:
        self.documents: list[Any] = []
        self._open: list[Any] = []
        self._keys: list[Any] = []

    def take(self, event: Any, count: int) -> None:
        """Handle one event of the parser."""
        name = type(event).__name__
        if count > MAX_EVENTS:
            raise ExportFault(f"it has more than {MAX_EVENTS:,} nodes; export a part of it")
        if name == "AliasEvent":
            raise ExportFault("it has YAML aliases, which are not read; write the values out")
        if name in _STARTS:
            self.begin(_STARTS[name]())
        elif name == "ScalarEvent":
            self.add(event.value)
        elif name in _ENDS:
            self.end()

    def begin(self, collection: list[Any] | dict[str, Any]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise ExportFault(f"it is nested in more than {MAX_DEPTH} lists")
        self.add(collection)
        self._open.append(collection)
        self._keys.append(None)

    def end(self) -> None:
        self._open.pop()
        self._keys.pop()

    def add(self, value: Any) -> None:
        if not self._open:
            self.documents.append(value)
        elif isinstance(self._open[-1], list):
            self._open[-1].append(value)
        elif self._keys[-1] is None:
            if not isinstance(value, str):
                raise ExportFault("a key is not a text")
            self._keys[-1] = value
        else:
            self._open[-1][self._keys[-1]] = value
            self._keys[-1] = None


def _read_rasa(documents: list[Any], entities: EntityCount) -> Iterator[Pair]:
    for document in items_of(documents):
        if document.get("nlu") in (None, ""):
            continue
        for item in items_of(document["nlu"]):
            if "intent" not in item:  # a synonym, a lookup table or a regular expression
                continue
            label = text_of(item, "intent")
            for text in _rasa_texts(item.get("examples")):
                plain, count = _RASA_ENTITY.subn(r"\1", text) if "[" in text else (text, 0)
                entities.count += count
                yield plain, label


def _rasa_texts(examples: Any) -> Iterator[str]:
    if isinstance(examples, str):
        for line in map(str.strip, examples.splitlines()):
            if (text := line.removeprefix("-").lstrip()).strip("- "):
                yield text
    elif examples:
        for item in examples:
            yield item if isinstance(item, str) else text_of(item, "text").strip()


def _read_snips(documents: list[Any], entities: EntityCount) -> Iterator[Pair]:
    for document in items_of(documents):
        if document.get("type") != "intent":
            continue
        texts = document.get("utterances") or []
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ExportFault("'utterances' is not a list of texts")
        for text in texts:
            plain, count = _SNIPS_ENTITY.subn(lambda found: found[1] or "", text)
            entities.count += count
            yield plain, text_of(document, "name")


YAML_TOOLS = (
    Tool(RASA, "Rasa", ("intent:",), lambda _: True, _read_rasa),
    Tool(SNIPS, "Snips", ("utterances:",), lambda _: True, _read_snips),
)
