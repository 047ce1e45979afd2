"""Batches over HTTP: each result line equals the answer of a single call, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.flows.client import LANGUAGE, VISION, Client, opened
from tests.flows.pictures import LABELS, fruit_scenes, shape
from tests.formats.drawn import encoded
from tests.papers import grid, paper
from tests.pdfs import text_pdf
from tests.pictures import make_zip

ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")
_LEFT_OUT = b',"object":"predictresponse"'
"""What a line does not repeat of a single call's answer."""


def answered(
    client: Client, base: str, name: str, content: bytes, *, seconds: float = 240, **fields: Any
) -> tuple[dict[str, Any], list[bytes]]:
    """Run a file as a batch; return its record and the lines of its result."""
    made = send_batch(client, base, name, content, **fields)
    return wait_for_result(client, base, made["id"], seconds)


def send_batch(
    client: Client, base: str, name: str, content: bytes, **fields: Any
) -> dict[str, Any]:
    """Send a file as a batch and return its record."""
    return dict(client.multipart("POST", f"{base}/batches", fields, {"data": (name, content)}).ok)


def wait_for_result(
    client: Client, base: str, batch_id: str, seconds: float
) -> tuple[dict[str, Any], list[bytes]]:
    """Wait until a batch has succeeded; return its record and the lines of its result."""
    path = f"{base}/batches/{batch_id}"
    record = client.wait(path, lambda found: found["status"] in ENDED, seconds)[-1]
    assert record["status"] == "SUCCEEDED", record
    with opened(record["resultUrl"]) as answer:
        result = answer.read()
    assert len(result) == record["resultBytes"]
    return record, result.splitlines()


def single(line_id: str, body: bytes) -> bytes:
    """Return the result line that the answer or error of a single call corresponds to."""
    if body.startswith(b'{"message"'):
        found = json.loads(body)
        error = {"code": found["code"], "message": found["message"]}
        body = json.dumps({"error": error}, ensure_ascii=False, separators=(",", ":")).encode()
    return b'{"id":"%s",' % line_id.encode() + body.replace(_LEFT_OUT, b"")[1:]


def named(line: bytes) -> bytes:
    """Remove the random part of table names, which differs between calls."""
    return re.sub(rb"(table\d+_)[0-9a-f-]{36}", rb"\1", line)


def compare_files(
    client: Client, call: str, files: Mapping[str, bytes], seconds: float = 240, **fields: Any
) -> dict[str, Any]:
    """Predict files as a batch and singly, compare the bytes, and return the record."""
    archive = make_zip(files)
    record, lines = answered(client, VISION, "files.zip", archive, seconds=seconds, **fields)
    assert len(lines) == len(files)
    for line, (name, content) in zip(lines, files.items(), strict=True):
        sent = {"sampleContent": ("sample", content)}
        answer = client.multipart("POST", f"{VISION}/{call}", fields, sent)
        assert named(line) == named(single(name, answer.body)), name
    return record


def photos(count: int) -> dict[str, bytes]:
    """Draw a number of different images of two kinds."""
    kinds = list(LABELS.values())
    return {f"p/{n:04d}.png": shape(*kinds[n % len(kinds)], 500 + n) for n in range(count)}


def papers(count: int) -> dict[str, bytes]:
    """Create a number of different PDFs, some with several pages."""
    return {
        f"{n:03d}.pdf": text_pdf(
            *([f"Invoice {n} page {p}", f"Total {n}.{p}0"] for p in range(1 + n % 3))
        )
        for n in range(count)
    }


def test_texts_are_answered_as_one_by_one(owner: Client, weather_model: str) -> None:
    """Text batches through queue and workers equal single calls, with one invalid line."""
    texts = [f"will it rain in {n} days" for n in range(30)]
    content = "".join(json.dumps({"id": f"t{n}", "text": t}) + "\n" for n, t in enumerate(texts))
    record, lines = answered(
        owner, LANGUAGE, "t.jsonl", (content + '{"text": ""}\n').encode(), modelId=weather_model
    )
    assert record["counts"] == {"total": 31, "done": 31, "failed": 1}
    assert json.loads(lines[30])["error"]["code"] == "missing_parameter"
    for n in (0, 17, 29):
        assert lines[n] == single(f"t{n}", owner.predict(weather_model, texts[n]).body)


def test_pictures_are_answered_as_one_by_one(gallery: Client, shapes_model: str) -> None:
    """Image batches equal single calls byte for byte, also for a file that is not an image."""
    files = {**photos(70), "notes.txt": b"no picture"}
    record = compare_files(gallery, "predict", files, modelId=shapes_model)
    assert record["counts"] == {"total": 71, "done": 71, "failed": 1}


def test_objects_are_found_as_one_by_one(gallery: Client, tables_model: str) -> None:
    """Detection batches equal single calls byte for byte."""
    scenes = {name: content for name, content, _ in fruit_scenes(6, seed=11)}
    compare_files(gallery, "detect", scenes, modelId=tables_model)


def test_documents_are_read_as_one_by_one(gallery: Client) -> None:
    """Batches of images and PDFs equal single OCR calls, and are not counted."""
    before = gallery.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
    pages = {"page.png": encoded(paper(["Dana Reyes", "Phone 602"]), "PNG")}
    fields = {"modelId": "OCRModel", "task": "text", "output": "markdown", "pages": "true"}
    compare_files(gallery, "ocr", {**papers(9), **pages, "x.txt": b"no page"}, **fields)
    table = {"table.png": encoded(grid([["Item", "Price"], ["Pen", "2.50"]]), "PNG")}
    compare_files(gallery, "ocr", table, modelId="tabulatev2", task="table")
    assert gallery.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] == before
