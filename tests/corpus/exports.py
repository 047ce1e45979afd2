"""Exports of other tools: intents with their utterances, whole and broken."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from chalicelib.domain.datasets.upload_format import ReadingOptions
from tests.corpus.case import UploadCase
from tests.corpus.texts import LABELS, PAIRS
from tests.pictures import make_zip

_IGNORED = frozenset({"entitiesIgnored"})


def _spans(text: str) -> list[dict[str, Any]]:
    """Return the spans of a text whose last word is an entity."""
    start, _, last = text.rpartition(" ")
    return [{"text": f"{start} "}, {"text": last, "entity": "word", "slot_name": "word"}]


_UTTERANCES = [{"text": text, "intent": label, "entities": []} for text, label in PAIRS]
_MARKED = [{**item, "entities": [{"start": 0, "end": 5}]} for item in _UTTERANCES]
_BY_LABEL = {label: [text for text, own in PAIRS if own == label] for label in LABELS}
_RASA = {"rasa_nlu_data": {"common_examples": _UTTERANCES, "entity_synonyms": []}}
_LUIS = {"luis_schema_version": "7.0.0", "intents": [{"name": "refund"}], "utterances": _MARKED}
_CLU = {
    "projectFileVersion": "2023-04-01",
    "metadata": {"projectKind": "Conversation", "language": "en-us"},
    "assets": {"projectKind": "Conversation", "intents": [], "utterances": _MARKED},
}
_CLU_OLDER = {
    "projectFileVersion": "2022-05-01",
    "stringIndexType": "Utf16CodeUnit",
    "metadata": {"projectKind": "Conversation", "settings": {"confidenceThreshold": 0}},
    "assets": {
        "entities": [{"category": "City"}],
        "intents": [{"category": label} for label in ("None", *LABELS)],
        "utterances": [
            {"intent": label, "language": "en-us", "dataset": "Train", "text": text}
            for text, label in PAIRS
        ],
    },
}
_SNIPS = {
    "language": "en",
    "intents": {
        label: {"utterances": [{"data": _spans(text)} for text in texts]}
        for label, texts in _BY_LABEL.items()
    },
    "entities": {},
}
_TEXTS = {f"docs/{n}.txt": text.encode() for n, (text, _) in enumerate(PAIRS)}
_CUSTOM = {
    "projectFileVersion": "2022-05-01",
    "metadata": {"projectKind": "CustomSingleLabelClassification"},
    "assets": {
        "projectKind": "CustomSingleLabelClassification",
        "classes": [{"category": "refund"}, {"category": "shipping"}],
        "documents": [
            {"location": f"{n}.txt", "class": {"category": label}}
            for n, (_, label) in enumerate(PAIRS)
        ],
    },
}
_SEVERAL = ["refund", "shipping", "refund|shipping"] * 4
_CUSTOM_SEVERAL = {
    "projectFileVersion": "2022-05-01",
    "metadata": {"projectKind": "CustomMultiLabelClassification"},
    "assets": {
        "projectKind": "CustomMultiLabelClassification",
        "documents": [
            {
                "location": f"docs/{n}.txt",
                "classes": [{"category": name} for name in label.split("|")],
            }
            for n, label in enumerate(_SEVERAL)
        ],
    },
}
_YAML = "version: '3.1'\n\nnlu:\n" + "".join(
    f"- intent: {label}\n  examples: |\n" + "".join(f"    - {text}\n" for text in texts)
    for label, texts in _BY_LABEL.items()
)
_SYNONYMS = (
    "- synonym: Cologne\n  examples: |\n    - Koeln\n- lookup: city\n  examples: |\n    - a\n"
)
_ITEMS = "nlu:\n" + "".join(
    f"- intent: {label}\n  examples:\n"
    + "".join(f"  - text: |\n      {text.replace(',', '')} [now](time)\n" for text in texts)
    for label, texts in _BY_LABEL.items()
)
_OUTLINE = "<!-- of version 1 -->\n## synonym:Cologne\n- Koeln\n" + "".join(
    f"\n## intent:{label}\n" + "".join(f"- {text} [now](time:today)\n" for text in texts)
    for label, texts in _BY_LABEL.items()
)
_LU = "> LUIS application\n@ ml city\n" + "".join(
    f"\n# {label}\n" + "".join(f"- {text} {{time=now}} {{@day}}\n" for text in texts)
    for label, texts in _BY_LABEL.items()
)
_DASHED = "".join(f"- {text.replace(',', '')},{label}\n" for text, label in PAIRS).encode()
_SNIPS_YAML = "".join(
    f"---\ntype: intent\nname: {label}\nutterances:\n"
    + "".join(f'- "{text} [at:time](noon)"\n' for text in texts)
    for label, texts in _BY_LABEL.items()
)
_BOMB = (
    "nlu:\n- intent: &a [x, x]\n  examples: &b [*a, *a, *a]\n- intent: c\n  examples: [*b, *b]\n"
)

_WATSON = {
    "intents": [
        {"intent": label, "examples": [{"text": text} for text in texts]}
        for label, texts in _BY_LABEL.items()
    ],
    "entities": [],
    "dialog_nodes": [],
}
_MANIFEST = "\n".join(
    json.dumps({"source": text, "job": 0, "job-metadata": {"class-name": label, "confidence": 1}})
    for text, label in PAIRS
)


def _agent(root: str = "") -> dict[str, bytes]:
    files: dict[str, Any] = {f"{root}agent.json": {"language": "en"}, f"{root}package.json": {}}
    for label, texts in _BY_LABEL.items():
        files[f"{root}intents/{label} x.json"] = {"id": "1", "name": label, "auto": True}
        files[f"{root}intents/{label} x_usersays_en.json"] = [
            {"id": str(n), "isTemplate": False, "data": [{"text": text, "userDefined": False}]}
            for n, text in enumerate(texts)
        ]
    return {name: json.dumps(value).encode() for name, value in files.items()}


def _agent_cx() -> dict[str, bytes]:
    files: dict[str, Any] = {"agent.json": {"displayName": "Shop"}}
    for label, texts in _BY_LABEL.items():
        files[f"intents/{label}/{label}.json"] = {"name": "1", "displayName": label}
        files[f"intents/{label}/trainingPhrases/en.json"] = {
            "trainingPhrases": [
                {"parts": [{"text": text}, {"text": "!", "parameterId": "end"}]} for text in texts
            ]
        }
    return {name: json.dumps(value).encode() for name, value in files.items()}


_FILMS = (
    ("DRAMA", "a family finds an old letter"),
    ("ACTION|COMEDY", "the clumsy spy"),
    ("ACTION|COMEDY|DRAMA", "a heist at a wedding"),
)
_INTENT = {
    "name": "refund",
    "userSays": [{"data": [{"text": text}, {"text": "!", "meta": "@sys.any"}]}
                 for text in _BY_LABEL["refund"]],
}  # fmt: skip


def _label_studio(*, choices: bool) -> bytes:
    """Return an export as CSV, with the columns that the tool adds."""
    stream = io.StringIO(newline="")
    names = ["annotation_id", "annotator", "created_at", "id", "lead_time", "intent"]
    names += ["text", "updated_at"]
    writer = csv.writer(stream)
    writer.writerow(names)
    for n, (text, label) in enumerate(PAIRS):
        cell = json.dumps({"choices": [label]}) if choices else label
        writer.writerow((n, 1, f"2024-05-{n + 1:02}", 100 + n, 1.5 + n, cell, text, "2024-06-01"))
    return stream.getvalue().encode()


def _comprehend() -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows((label, text) for text, label in PAIRS)
    return stream.getvalue().encode()


def _comprehend_several() -> bytes:
    """Return rows of one to three labels and a text, with a bar between labels."""
    stream = io.StringIO(newline="")
    for number in range(10):
        csv.writer(stream).writerows((label, f"{title}, {number}") for label, title in _FILMS)
    return stream.getvalue().encode()


def _comprehend_few() -> bytes:
    """Return twelve rows with eight lists of labels."""
    stream = io.StringIO(newline="")
    kinds = ["A|B", "C", "A", "B|D", "C|A", "E", "E|C", "B", "A", "C", "A|B", "D|A"]
    csv.writer(stream).writerows((kind, f"A film, no. {n}") for n, kind in enumerate(kinds))
    return stream.getvalue().encode()


def _json(value: object, indent: int | None = None) -> bytes:
    return json.dumps(value, indent=indent).encode()


def _ok(name: str, content: bytes, kind: str, **more: Any) -> UploadCase:
    return UploadCase(name, content, **{"labels": LABELS, "kind": kind, **more})


def _no(name: str, content: bytes, refusal: str, **more: Any) -> UploadCase:
    return UploadCase(name, content, refusal=refusal, **more)


EXPORTS = [
    _ok("Rasa, JSON", _json(_RASA), "rasa"),
    _ok("Rasa, JSON by name", _json(_RASA, 2), "rasa", options=ReadingOptions(format="rasa")),
    _ok("Rasa, YAML", _YAML.encode(), "rasa"),
    _ok("Rasa, YAML with synonyms", (_YAML + _SYNONYMS).encode(), "rasa",
        options=ReadingOptions(strict=True)),
    _ok("Rasa, YAML with entities", _ITEMS.encode(), "rasa", warnings=_IGNORED),
    _ok("Rasa, Markdown of older versions", _OUTLINE.encode(), "rasa", warnings=_IGNORED),
    _ok("Rasa, Markdown by name, of Windows", _OUTLINE.replace("\n", "\r\n").encode(), "rasa",
        warnings=_IGNORED, options=ReadingOptions(format="rasa")),
    _ok("Watson", _json(_WATSON), "watson"),
    _ok("Watson, assistant with a workspace", _json({"workspace": _WATSON}), "watson"),
    _ok("a manifest of Comprehend", _MANIFEST.encode(), "jsonl"),
    _ok("LUIS, LU", _LU.encode(), "luis", warnings=_IGNORED),
    _ok("csv with rows that begin like an outline", b"# 7,refund\n- a late parcel,shipping\n",
        "csv", labels={"shipping": 1, "refund": 1}, warnings=frozenset({"fewExamples"})),
    _ok("csv of list items below a comment", b"# exported\n# in May\n" + _DASHED, "csv",
        rejected=2),
    _ok("csv of list items below a header", b"# text,label\n" + _DASHED, "csv",
        warnings=frozenset({"headerGuessed"})),
    _ok("Rasa, YAML with empty items", _YAML.replace(
        "examples: |\n", "examples: |\n    - -\n    - --\n").encode(), "rasa"),
    _ok("Snips, JSON", _json(_SNIPS, 1), "snips", warnings=_IGNORED),
    _ok("Snips, YAML", _SNIPS_YAML.encode(), "snips", warnings=_IGNORED),
    _ok("LUIS", _json(_LUIS), "luis", warnings=_IGNORED),
    _ok("LUIS, with a byte order mark", b"\xef\xbb\xbf" + _json(_LUIS, 4), "luis",
        warnings=_IGNORED),
    _ok("LUIS, in UTF-16", _json(_LUIS).decode().encode("utf-16"), "luis", warnings=_IGNORED),
    _ok("Rasa, project", make_zip({
        "data/nlu.yml": _YAML.encode(), "config.yml": b"pipeline: &all [a]\nother: *all\n",
        "actions/actions.py": b"import os\n"}), "rasa"),
    _ok("Rasa, project with files of other tools", make_zip({
        "data/nlu.yml": _YAML.encode(), "package.json": b"{}", "requirements.txt": b"rasa\n",
        "docs/logo.png": b"x", "a.yml": "name: Caf\u00e9\n".encode("latin-1")}), "rasa"),
    _no("Rasa, project with texts in another encoding", make_zip({
        "data/nlu.yml": _YAML.encode(), "data/more.yml": b"nlu:\n- intent: caf\xe9\n"}),
        "data/more.yml: 'utf-8' codec"),
    _ok("Rasa, project in UTF-16", make_zip({"data/nlu.yml": _YAML.encode("utf-16")}), "rasa"),
    _ok("Rasa, project with a file in UTF-16", make_zip({
        "data/nlu.yml": b"nlu:\n- intent: bye\n  examples: [bye, see you]\n",
        "data/more.yml": _YAML.encode("utf-16")}), "rasa",
        labels={**LABELS, "bye": 2}, warnings=frozenset({"fewExamples"})),
    _ok("Rasa, project with texts and a JSON file of documents", make_zip({
        "data/nlu.yml": _YAML.encode(), "requirements.txt": b"rasa\n",
        "faq.json": b'{"documents": [{"location": "requirements.txt"}]}'}), "rasa"),
    _ok("Rasa, project with a JSON file of intents", make_zip({
        "data/nlu.yml": _YAML.encode(), "docs/intents/list.json": b'["refund"]'}), "rasa"),
    _ok("Dialogflow, agent next to YAML", make_zip({
        **_agent(), "nlu.yml": b"nlu:\n- intent: bye\n  examples: [bye, hi]\n"}), "dialogflow"),
    _ok("Azure custom text next to settings in YAML", make_zip({
        "labels.json": _json(_CUSTOM), **_TEXTS, "data/nlu.yml": _YAML.encode()}),
        "customTextClassification"),
    _ok("Rasa, YAML in UTF-16", _YAML.encode("utf-16"), "rasa"),
    _ok("Azure CLU", _json(_CLU), "clu", warnings=_IGNORED),
    _ok("Azure CLU, older and indented", _json(_CLU_OLDER, 2), "clu"),
    _ok("Azure CLU by name", _json(_CLU_OLDER), "clu", options=ReadingOptions(format="clu")),
    _no("Azure CLU, truncated", _json(_CLU)[:-40], "conversational language understanding that"),
    _ok("Azure custom text", make_zip({"labels.json": _json(_CUSTOM), **_TEXTS}),
        "customTextClassification"),
    _ok("Azure custom text of several labels",
        make_zip({"labels.json": _json(_CUSTOM_SEVERAL), **_TEXTS}), "customTextClassification",
        labels={"refund": 4, "shipping": 4, "refund|shipping": 4},
        warnings=frozenset({"severalLabels", "fewExamples"})),
    _no("Azure custom text of several labels without its texts", _json(_CUSTOM_SEVERAL),
        "an export of Azure's custom text classification that cannot be read"),
    _no("Azure custom text without its texts", _json(_CUSTOM), "send a zip of the export"),
    _no("Azure custom text with a text missing",
        make_zip({"labels.json": _json(_CUSTOM), **dict(list(_TEXTS.items())[1:])}),
        "the archive has no file '0.txt'"),
    _ok("Dialogflow, agent", make_zip(_agent()), "dialogflow"),
    _ok("Dialogflow, agent in a folder", make_zip(_agent("Shop/")), "dialogflow"),
    _ok("Dialogflow, intent", _json(_INTENT), "dialogflow", labels={"refund": 6},
        warnings=_IGNORED),
    _ok("Dialogflow CX", make_zip(_agent_cx()), "dialogflow", warnings=_IGNORED),
    _no("Dialogflow, phrases without an intent",
        _agent()["intents/refund x_usersays_en.json"], "send the zip of the whole agent"),
    _ok("Label Studio, CSV", _label_studio(choices=False), "labelStudio"),
    _ok("Label Studio, CSV with choices", _label_studio(choices=True), "labelStudio"),
    _ok("Label Studio, CSV by name", _label_studio(choices=True), "labelStudio",
        options=ReadingOptions(format="labelStudio")),
    _ok("Label Studio, JSON by name",
        _json([{"data": {"text": text}, "annotations": [{"result": [
            {"type": "choices", "value": {"choices": [label]}}]}]} for text, label in PAIRS]),
        "labelStudio", options=ReadingOptions(format="labelStudio")),
    _no("csv that is named Label Studio's", b"text,label\na b,c\n", "is labelStudio, and",
        options=ReadingOptions(format="labelStudio")),
    _ok("Amazon Comprehend, several labels", _comprehend_several(), "csv",
        labels={label: 10 for label, _ in _FILMS},
        warnings=frozenset({"columnsSwapped", "severalLabels"})),
    _ok("Amazon Comprehend, few rows of several labels", _comprehend_few(), "csv",
        labels={"A|B": 2, "C": 2, "A": 2, "B|D": 1, "C|A": 1, "E": 1, "E|C": 1, "B": 1, "D|A": 1},
        warnings=frozenset({"columnsSwapped", "severalLabels", "fewExamples", "labelPerText"})),
    _ok("Amazon Comprehend, with a label that occurs once",
        b"odd,A film of its own kind\n" + _comprehend(), "csv", labels={**LABELS, "odd": 1},
        warnings=frozenset({"columnsSwapped", "fewExamples"})),
    _ok("Amazon Comprehend", _comprehend(), "csv",
        warnings=frozenset({"columnsSwapped"})),
    _no("truncated JSON", _json(_LUIS)[:-40], "an export of LUIS that cannot be read: the JSON"),
    _no("YAML bomb", _BOMB.encode(), "an export of Rasa that cannot be read: it has YAML aliases"),
    _no("broken YAML", (_YAML + "  - [x").encode(), "an export of Rasa that cannot be read: YAML"),
    _no("no utterances", _json({**_LUIS, "utterances": []}), "LUIS that cannot be read: it has no"),
    _no("an utterance that is a number", _json({**_LUIS, "utterances": [7]}),
        "an export of LUIS that cannot be read: item 1"),
    _no("deep JSON", b'{"rasa_nlu_data":' + b"[" * 500,
        "an export of Rasa that cannot be read: the JSON is nested"),
    _no("another tool is named", _json(_LUIS), "'format' is rasa",
        options=ReadingOptions(format="rasa")),
    _no("a zip of no tool", make_zip({"a.json": b"{}", "b.csv": b"x,y"}), "ip archive"),
    _ok("lines that look like an export",
        b"\n".join(_json({"text": text, "label": label}) for text, label in PAIRS)
        + b'\n{"text": "\\"rasa_nlu_data\\"", "label": "refund"}', "jsonl",
        labels={"shipping": 6, "refund": 7}),
]  # fmt: skip
