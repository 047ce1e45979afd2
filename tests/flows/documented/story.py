"""A sequence that makes every call of the API once, in a realistic order."""

from __future__ import annotations

import copy
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.routes import OPERATIONS
from chalicelib.web.openapi.examples import EXAMPLES, key
from tests.flows.client import FORM, Client, encode_multipart
from tests.flows.pictures import fruit_scenes, scenes_zip
from tests.pdfs import text_pdf
from tests.pictures import draw, make_zip

ENVIRONMENT = {
    "PRESAGE_TEXT_PROFILE": "fast",
    "PRESAGE_DOWNLOAD_ALLOW": "127.0.0.1:9,[::1]:9",
}
"""Of the stack: the same encoders on every machine, and a webhook address that does not answer."""
SAMPLES = Path(__file__).parents[3] / "chalicelib" / "assets" / "samples"
LONGEST_LIST = 2
"""Items of a list that an example shows."""
LONGEST_TEXT = 200
"""Characters of a text that an example shows."""
VOLATILE = re.compile(
    r"(^id|Id|At|_token|^token|^url|Url$|^resultBytes|^path|^location|^thumbnail|^policy|^key|sha256|Sha256|^credential"
    r"|^version|^bytes|^secret|^prefix|^email|^failureMsg|^message|[Tt]ime|^queuePosition|^predictions\w+|^progress|^fields|^title|^state|^engines|^engineParts|^expires_in)$"
)
"""Members whose values differ from run to run."""


@dataclass(frozen=True)
class Step:
    """One call."""

    operation: str
    """Its name."""
    family: str = ""
    """`language`, `vision` or empty."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of the path by name; `$x` stands for what a call before kept as x."""
    query: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Files by field, by their names in `_files`."""
    keeps: Mapping[str, str] = field(default_factory=dict)
    """What later calls need: name, and the dotted way to it in the answer."""
    until: tuple[str, str] | None = None
    """A member and a pattern of it: the call is repeated until the answer has it."""


def _files() -> dict[str, bytes]:
    """Return all files that the sequence sends."""
    named = ("shop_intents.csv", "road_signs.zip", "stop_sign.jpg", "sample_page.png")
    found = {name: (SAMPLES / name).read_bytes() for name in named}
    found["questions.csv"] = b"id,text\n17,Where is my parcel?\n18,I want my money back\n"
    found["more_intents.csv"] = b"Can I change my address?,change-address\n"
    found["scenes.zip"] = scenes_zip(fruit_scenes(12))
    found["sign.png"] = draw("circle", "red", (64, 64), at=(8, 8, 40, 40), salt=4)
    # The answer of an import comes before its archive is read.
    found["bundle.zip"] = make_zip({"model.json": b"{}"})
    shots = {"stop.jpg": found["stop_sign.jpg"], "sign.png": found["sign.png"]}
    found["shots.zip"] = make_zip(shots)
    orders = {"a.pdf": ("4711", "20.00"), "b.pdf": ("8152", "37.50")}
    pages = {
        name: [f"Order number: {no}", f"Total: ${sum_}"] for name, (no, sum_) in orders.items()
    }
    values = [{"file": name, "values": {"order_number": no, "total": sum_}}
              for name, (no, sum_) in orders.items()]  # fmt: skip
    found["orders.zip"] = make_zip(
        {**{name: text_pdf(lines) for name, lines in pages.items()},
         "values.json": json.dumps(values).encode()}
    )  # fmt: skip
    return found


L, V = LANGUAGE, VISION
_DATASET, _MODEL = {"dataset_id": "$data"}, {"model_id": "$model"}
_HOOK = {"webhook_id": "$hook"}
_SIGNS, _SIGN_MODEL = {"dataset_id": "$signs"}, {"model_id": "$sign_model"}
_ENDED = ("status", "SUCCEEDED")
# deleted; the record waits for the temporary URLs of the examples to die (30 minutes)
_DELETED = ("status", "SUCCEEDED_WAITING_FOR_CACHE_REMOVAL")
_READ = ("statusMsg", "SUCCEEDED")
_TEXT = "Where is my parcel?"
STORY: Sequence[Step] = (
    Step("create_token", fields={"grant_type": "$grant", "assertion": "$assertion",
         "scope": "offline"}, keeps={"refresh": "refresh_token", "token": "access_token"}),
    Step("whoami"),
    Step("list_usage"),
    Step("get_health"),
    # texts
    Step("create_dataset", L, fields={"name": "tickets", "labels": "refund,delivery",
         "type": "text-intent"}, keeps={"empty": "id", "unused": "labelSummary.labels.0.id"}),
    Step("list_label_descriptions", L, variables={"dataset_id": "$empty"}),
    Step("remove_label", L, variables={"dataset_id": "$empty", "label_id": "$unused"}),
    Step("validate_dataset", L, fields={"type": "text-intent", "preview": "true"},
         files={"data": "shop_intents.csv"}),
    Step("upload_dataset", L, fields={"type": "text-intent", "name": "shop"},
         files={"data": "shop_intents.csv"}, keeps={"queued": "id"}),
    Step("upload_dataset_sync", L, fields={"type": "text-intent", "name": "shop"},
         files={"data": "shop_intents.csv"},
         keeps={"data": "id", "label": "labelSummary.labels.0.id"}),
    Step("get_dataset", L, variables=_DATASET, until=_READ),
    Step("get_dataset", L, variables={"dataset_id": "$queued"}, until=_READ),
    Step("list_datasets", L, query={"count": 2}),
    Step("add_to_dataset", L, variables=_DATASET, files={"data": "more_intents.csv"}),
    Step("get_dataset", L, variables=_DATASET, until=_READ),
    Step("list_receipts", L, variables=_DATASET),
    Step("add_example", L, variables=_DATASET,
         fields={"document": "My parcel never came", "label": "delivery-date"}),
    Step("list_dataset_examples", L, variables=_DATASET, query={"count": 2},
         keeps={"odd": "data.0.id", "wrong": "data.1.id"}),
    Step("list_label_examples", L, variables={**_DATASET, "label_id": "$label"},
         query={"count": 2}),
    Step("list_label_examples_deprecated", L, query={"labelId": "$label", "count": 2}),
    Step("train", L, fields={"name": "shop", "datasetId": "$data"}, keeps={"model": "modelId"}),
    Step("get_training", L, variables=_MODEL, until=_ENDED),
    Step("get_metrics", L, variables=_MODEL),
    Step("list_learning_curve", L, variables=_MODEL),
    Step("get_card", L, variables=_MODEL),
    Step("list_evaluation", L, variables=_MODEL, query={"count": 2, "isRight": False}),
    Step("list_models", L, variables=_DATASET),
    Step("list_account_models", L, query={"status": "SUCCEEDED"}),
    Step("browse_examples", L, variables=_DATASET, query={"count": 2, "contains": "parcel"}),
    Step("rename_dataset", L, variables=_DATASET, fields={"name": "tickets of the shop"}),
    Step("change_label", L, variables={**_DATASET, "label_id": "$label"},
         fields={"name": "where-is-it"}),
    Step("change_example", L, variables={**_DATASET, "example_id": "$wrong"},
         fields={"label": "delivery-date", "document": "When will it come?"}),
    Step("remove_example", L, variables={**_DATASET, "example_id": "$odd"}),
    Step("list_corrections", L, variables=_DATASET),
    Step("correct_dataset", L, variables=_DATASET, fields={"corrections":
         [{"exampleId": "$wrong", "label": "refund"}]}),
    Step("create_export", L, variables=_DATASET, fields={"format": "csv"},
         keeps={"export": "id"}),
    Step("get_export", L, variables={**_DATASET, "export_id": "$export"}, until=_ENDED),
    Step("predict_intent", L, fields={"modelId": "$model", "document": _TEXT, "numResults": 2}),
    Step("predict_sentiment", L, fields={"modelId": "CommunitySentiment",
         "document": "The parcel came early and nothing was broken. Lovely!"}),
    Step("create_batch", L, fields={"modelId": "$model", "numResults": 1},
         files={"data": "questions.csv"}, keeps={"batch": "id"}),
    Step("get_batch", L, variables={"batch_id": "$batch"}, until=_ENDED),
    Step("list_batches", L, query={"count": 1}),
    Step("delete_batch", L, variables={"batch_id": "$batch"}),
    Step("create_ranking", L, fields={"modelId": "$model", "count": 2},
         files={"data": "questions.csv"}),
    Step("add_feedback", L, fields={"modelId": "$model", "document": "It has not come yet",
         "expectedLabel": "delivery-date"}),
    Step("retrain", L, fields={"modelId": "$model", "trainParams": {"withFeedback": True}}),
    Step("get_training", L, variables=_MODEL, until=_ENDED),
    Step("list_model_versions", L, variables=_MODEL),
    Step("compare_model_versions", L, variables=_MODEL, fields={"versions": [1, 2]}),
    Step("create_model_export", L, variables=_MODEL, fields={"modelVersion": 1},
         keeps={"bundle": "id"}),
    Step("get_model_export", L, variables={**_MODEL, "export_id": "$bundle"}, until=_ENDED),
    Step("import_model", L, fields={"name": "shop"}, files={"data": "bundle.zip"}),
    Step("adjust_model", L, variables=_MODEL, fields={"datasetId": "$data", "withFeedback": True}),
    Step("get_training", L, variables=_MODEL, until=_ENDED),
    Step("serve_model_version", L, variables={**_MODEL, "version": "1"}),
    Step("delete_model_version", L, variables={**_MODEL, "version": "2"}),
    # webhooks
    Step("create_webhook", keeps={"hook": "id"}, fields={
        "url": "https://localhost:9/presage", "events": ["training.succeeded"]}),
    Step("get_webhook", variables=_HOOK),
    Step("change_webhook", variables=_HOOK,
         fields={"events": ["training.succeeded", "training.failed"]}),
    Step("list_webhooks"),
    Step("rotate_webhook", variables=_HOOK),
    Step("test_webhook", variables=_HOOK),
    Step("list_deliveries", variables=_HOOK, until=("data", ".*FAILED")),
    Step("delete_webhook", variables=_HOOK),
    # API keys
    Step("create_key", keeps={"key": "id"}, fields={
        "name": "web shop", "scope": "predict", "expiresAt": "2099-12-31T00:00:00Z"}),
    Step("list_keys"),
    Step("delete_key", variables={"key_id": "$key"}),
    # pictures
    Step("create_dataset", V, fields={"name": "signs", "labels": "stop,yield", "type": "image"},
         keeps={"blank": "id", "idle": "labelSummary.labels.0.id"}),
    Step("remove_label", V, variables={"dataset_id": "$blank", "label_id": "$idle"}),
    Step("issue_upload", fields={"name": "signs.zip"}),
    Step("validate_pictures", V, fields={"type": "image", "preview": "true"},
         files={"data": "road_signs.zip"}),
    Step("upload_pictures", V, fields={"type": "image-detection", "name": "scenes"},
         files={"data": "scenes.zip"}, keeps={"scenes": "id"}),
    Step("upload_pictures_sync", V, fields={"type": "image", "name": "signs"},
         files={"data": "road_signs.zip"},
         keeps={"signs": "id", "sign_label": "labelSummary.labels.0.id",
                "sign": "labelSummary.labels.0.name"}),
    Step("get_dataset", V, variables={"dataset_id": "$scenes"}, until=_READ),
    Step("list_datasets", V, query={"count": 2}),
    Step("add_to_dataset", V, variables=_SIGNS, files={"data": "road_signs.zip"}),
    Step("get_dataset", V, variables=_SIGNS, until=_READ),
    Step("list_receipts", V, variables=_SIGNS),
    Step("add_picture", V, variables=_SIGNS, fields={"labelId": "$sign_label"},
         files={"data": "sign.png"}),
    Step("list_dataset_examples", V, variables=_SIGNS, query={"count": 2},
         keeps={"blurred": "data.0.id", "other_sign": "data.1.id"}),
    Step("list_label_examples", V, variables={**_SIGNS, "label_id": "$sign_label"},
         query={"count": 2}),
    Step("list_label_examples_deprecated", V, query={"labelId": "$sign_label", "count": 2}),
    Step("train", V, fields={"name": "scenes", "datasetId": "$scenes", "epochs": 1},
         keeps={"finder": "modelId"}),
    Step("train", V, fields={"name": "signs", "datasetId": "$signs"},
         keeps={"sign_model": "modelId"}),
    Step("get_training", V, variables=_SIGN_MODEL, until=_ENDED),
    Step("get_metrics", V, variables=_SIGN_MODEL),
    Step("list_learning_curve", V, variables=_SIGN_MODEL, query={"count": 1}),
    Step("get_card", V, variables=_SIGN_MODEL),
    Step("list_evaluation", V, variables=_SIGN_MODEL, query={"count": 1}),
    Step("list_models", V, variables=_SIGNS),
    Step("list_account_models", V, query={"name": "signs"}),
    Step("browse_examples", V, variables=_SIGNS, query={"labelId": "$sign_label", "count": 2}),
    Step("rename_dataset", V, variables=_SIGNS, fields={"name": "signs of the road"}),
    Step("change_label", V, variables={**_SIGNS, "label_id": "$sign_label"},
         fields={"name": "stop-sign"}),
    Step("change_example", V, variables={**_SIGNS, "example_id": "$other_sign"},
         fields={"labelId": "$sign_label"}),
    Step("remove_example", V, variables={**_SIGNS, "example_id": "$blurred"}),
    Step("list_corrections", V, variables=_SIGNS),
    Step("correct_dataset", V, variables=_SIGNS, fields={"corrections":
         [{"exampleId": "$other_sign", "remove": True}]}),
    Step("create_export", V, variables=_SIGNS, fields={"format": "zip"}, keeps={"pack": "id"}),
    Step("get_export", V, variables={**_SIGNS, "export_id": "$pack"}, until=_ENDED),
    Step("predict_image", V, fields={"modelId": "$sign_model", "numResults": 2},
         files={"sampleContent": "stop_sign.jpg"}),
    Step("run_ocr", V, fields={"modelId": "OCRModel", "task": "contact"},
         files={"sampleContent": "sample_page.png"}),
    Step("learn_template", V, files={"data": "orders.zip"}, keeps={"learned": "id"}),
    Step("get_learned_template", V, variables={"learning_id": "$learned"}, until=_ENDED),
    Step("create_picture_batch", V, fields={"modelId": "$sign_model", "numResults": 1},
         files={"data": "shots.zip"}, keeps={"shots": "id"}),
    Step("get_batch", V, variables={"batch_id": "$shots"}, until=_ENDED),
    Step("list_batches", V, query={"count": 1}),
    Step("delete_batch", V, variables={"batch_id": "$shots"}),
    Step("create_picture_ranking", V, fields={"modelId": "$sign_model", "count": 2},
         files={"data": "shots.zip"}),
    Step("add_picture_feedback", V, files={"data": "sign.png"},
         fields={"modelId": "$sign_model", "expectedLabel": "stop-sign", "name": "again.png"}),
    Step("retrain", V, fields={"modelId": "$sign_model"}),
    Step("get_training", V, variables={"model_id": "$finder"}, until=_ENDED),
    Step("detect_objects", V, fields={"modelId": "$finder"},
         files={"sampleContent": "stop_sign.jpg"}),
    Step("add_bulk_feedback", V, fields={"modelId": "$finder"}, files={"data": "scenes.zip"}),
    # the end
    Step("delete_failed_datasets", L, query={"status": "FAILED"}),
    Step("delete_failed_datasets", V, query={"status": "FAILED"}),
    Step("get_training", V, variables=_SIGN_MODEL, until=_ENDED),
    Step("list_model_versions", V, variables=_SIGN_MODEL),
    Step("compare_model_versions", V, variables=_SIGN_MODEL, fields={"versions": [1, 2]}),
    Step("create_model_export", V, variables=_SIGN_MODEL, fields={"format": "onnx"},
         keeps={"graph_of_signs": "id"}),
    Step("get_model_export", V, variables={**_SIGN_MODEL, "export_id": "$graph_of_signs"},
         until=_ENDED),
    Step("import_model", V, fields={"name": "signs"}, files={"data": "bundle.zip"}),
    Step("serve_model_version", V, variables={**_SIGN_MODEL, "version": "1"}),
    Step("delete_model_version", V, variables={**_SIGN_MODEL, "version": "2"}),
    Step("delete_model", L, variables=_MODEL),
    Step("delete_model", V, variables=_SIGN_MODEL),
    Step("delete_dataset", V, variables=_SIGNS, keeps={"gone_signs": "id"}),
    Step("delete_dataset", L, variables=_DATASET, keeps={"gone": "id"}),
    Step("get_deletion", V, variables={"deletion_id": "$gone_signs"}, until=_DELETED),
    Step("get_deletion", L, variables={"deletion_id": "$gone"}, until=_DELETED),
    Step("revoke_token", variables={"token": "$refresh"}),
)  # fmt: skip
UNSHOWN = {
    "get_root", "get_document", "get_docs", "get_docs_file", "get_console", "get_console_file",
    "predict_entities",
}  # fmt: skip
"""Calls without an answer that could be shown: pages, the document itself, and a refusal."""


class Teller:
    """Makes the calls of the sequence, and records request and answer of each.

    Args:
        client: a caller; its token is replaced by the one that the story gets.
        known: variables that the first call needs: `grant` and `assertion`.
    """

    def __init__(self, client: Client, known: Mapping[str, Any]) -> None:
        self._client = client
        self._known = dict(known)
        self._files = _files()
        self._operations = {operation.name: operation for operation in OPERATIONS}

    def tell(self) -> dict[str, dict[str, Any]]:
        """Make all calls; return an example of each, of repeated calls the latest."""
        found = {}
        for step in STORY:
            answer = self._answer(step)
            found[key(step.operation, step.family)] = self._shown(step, answer)
        return found

    def _answer(self, step: Step) -> Any:
        deadline = time.monotonic() + 900
        while True:
            answer = self._send(step)
            assert answer.status in (200, 204), (step.operation, answer.status, answer.body[:500])
            data = answer.data if answer.body else None
            if step.until is None or re.match(step.until[1], str(data[step.until[0]])):
                break
            assert time.monotonic() < deadline, (step, data)
            time.sleep(0.2)
        for name, way in step.keeps.items():
            self._known[name] = _walk(data, way)
        if "token" in step.keeps:
            self._client.token = self._known["token"]
        return data

    def _send(self, step: Step) -> Any:
        operation = self._operations[step.operation]
        path = operation.path.replace(":family", step.family)
        for name, value in step.variables.items():
            path = path.replace(f"{{{name}}}", str(self._value(value)))
        if step.query:
            query = {name: self._value(value) for name, value in step.query.items()}
            path += f"?{urlencode(query)}"
        fields = {name: self._value(value) for name, value in step.fields.items()}
        if step.files:
            files = {name: (file, self._files[file]) for name, file in step.files.items()}
            kind, body = encode_multipart(fields.items(), files)
            return self._client.send(operation.method, path, body, {"Content-Type": kind})
        if operation.takes_urlencoded:
            return self._client.send(
                operation.method, path, urlencode(fields), {"Content-Type": FORM}
            )
        if fields:
            return self._client.json(operation.method, path, fields)
        return self._client.send(operation.method, path)

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(item) for item in value]
        if isinstance(value, dict):
            return {name: self._value(item) for name, item in value.items()}
        return self._known[value[1:]] if isinstance(value, str) and value[:1] == "$" else value

    def _shown(self, step: Step, answer: Any) -> dict[str, Any]:
        """Build an example in the form of the document."""
        known = {name: self._value(value) for name, value in step.fields.items()}
        request = {name: _short(value, name) for name, value in known.items()}
        request |= {name: f"@{file}" for name, file in step.files.items()}
        return {"request": request, "answer": shortened(answer)}


def _walk(data: Any, way: str) -> Any:
    for part in way.split("."):
        data = data[int(part) if part.isdigit() else part]
    return data


def _short(value: Any, name: str) -> Any:
    """Shorten a text that is too long for an example."""
    if name.endswith(("token", "assertion")):
        return f"{value[:12]}…"
    is_long = isinstance(value, str) and len(value) > LONGEST_TEXT
    return f"{value[:LONGEST_TEXT]}…" if is_long else value


def shortened(value: Any, name: str = "") -> Any:
    """Shorten long lists and long texts of an answer for the example."""
    if isinstance(value, dict):
        kept = {member: shortened(item, member) for member, item in value.items()}
        return dict(list(kept.items())[:6]) if name == "fields" else kept
    if isinstance(value, list):
        return [shortened(item, name) for item in value[:LONGEST_LIST]]
    return _short(value, name)


def differences(expected: Any, found: Any, name: str = "", place: str = "") -> list[str]:
    """List the places in which an answer differs from its example.

    Ids, dates and addresses are of the same kind; numbers that a training makes are close.
    """
    if VOLATILE.search(name) and expected is not None:
        return [] if type(found) is type(expected) else [f"{place}: {expected!r}, {found!r}"]
    if isinstance(expected, dict) and isinstance(found, dict):
        inner = [
            item
            for member in expected
            if member in found
            for item in differences(expected[member], found[member], member, f"{place}.{member}")
        ]
        missing = expected.keys() ^ found.keys()
        return [*inner, *(f"{place}.{member}: only in one" for member in sorted(missing))]
    if isinstance(expected, list) and isinstance(found, list):
        pairs = enumerate(zip(expected, found, strict=False))
        inner = [i for n, (a, b) in pairs for i in differences(a, b, name, f"{place}[{n}]")]
        return inner if len(expected) == len(found) else [*inner, f"{place}: other length"]
    if isinstance(expected, float) or isinstance(found, float):
        return [] if abs(expected - found) < 0.15 else [f"{place}: {expected}, {found}"]
    return [] if expected == found else [f"{place}: {expected!r}, {found!r}"]


def write(examples: Mapping[str, Any]) -> None:
    """Write the file of examples."""
    text = json.dumps(copy.deepcopy(examples), indent=1, ensure_ascii=False)
    EXAMPLES.write_text(f"{text}\n", encoding="utf-8")
