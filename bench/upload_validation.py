"""Section `validate` of bench_uploads: the cost of validating files.

A file is sent in the call, or uploaded before and named by its path. The files are the largest that
a call accepts: 25 MB of texts, and 50 MB of images, in folders or with boxes.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from bench.report import Report, ceiling
from tests.flows.big_archive import post_file
from tests.flows.client import Client
from tests.flows.memory import MEGABYTE, watched
from tests.local_stack import LocalStack
from tests.pictures import encoded, make_zip

TEXT_BYTES, ARCHIVE_BYTES = 25 * 1024 * 1024, 50 * 1024 * 1024
TEXT_SECONDS, ARCHIVE_SECONDS = 5, 10
MEMORY_BAR = 300
"""Largest additional memory of the HTTP server process, in megabytes."""
SIDE, LABELS, BOXES = 400, 150, 10
_ROOM = 1 << 20


def bench_validate(
    report: Report, stack: LocalStack, client: Client, folder: Path, most: int
) -> None:
    """Validate files of up to `most` bytes in the call, and one archive by its path."""
    text, images = _texts(min(most, TEXT_BYTES)), _images(min(most, ARCHIVE_BYTES))
    folders = make_zip({f"{n % 2}/{name}": one for n, (name, one) in enumerate(images)}, method=0)
    boxed = make_zip({**dict(images), "instances.json": _coco(images)}, method=0)
    _bench(report, stack, client, "language", text, {"type": "text-intent"}, TEXT_SECONDS)
    _bench(report, stack, client, "vision", folders, {"type": "image"}, ARCHIVE_SECONDS)
    boxes = {"type": "image-detection"}
    _bench(report, stack, client, "vision", boxed, boxes, ARCHIVE_SECONDS)
    issued = client.json("POST", "/v2/uploads", {"name": "pets.zip"}).ok
    (folder / "pets.zip").write_bytes(boxed)
    assert post_file(issued, folder / "pets.zip")[0] == 204
    by_path = {**boxes, "path": issued["path"]}
    _bench(report, stack, client, "vision", b"", by_path, ARCHIVE_SECONDS)


def _bench(
    report: Report,
    stack: LocalStack,
    client: Client,
    family: str,
    content: bytes,
    fields: dict[str, Any],
    seconds: float,
) -> None:
    """Validate a file twice: once to warm up, and once to measure."""
    path = f"/v2/{family}/datasets/validate"
    files = {"data": ("file", content)} if content else {}
    assert client.multipart("POST", path, fields, files).ok["rejected"] == 0
    with watched(stack) as memory:
        began = time.perf_counter()
        found = client.multipart("POST", path, fields, files).ok
        took = time.perf_counter() - began
    way = "by path" if "path" in fields else f"of {len(content) / MEGABYTE:.0f} MB"
    kind = f"validate {found['format']['kind']} {way}, {found['kept']} examples"
    report.add(kind, took, "s", ceiling(seconds))
    report.add(f"{kind}: memory on top", memory.grown("front"), "MB", ceiling(MEMORY_BAR))


def _texts(most: int) -> bytes:
    """Write a CSV file of up to `most` bytes."""
    rows, size, number = [], 0, 0
    while size < most - 200:
        row = (
            f"where is parcel {number} that I sent to town {number % 977},label {number % LABELS}\n"
        )
        rows.append(row)
        size, number = size + len(row), number + 1
    return "".join(rows).encode()


def _images(most: int) -> list[tuple[str, bytes]]:
    """Draw images of up to `most` bytes together."""
    from PIL import Image

    images, size = [], 0
    room = min(_ROOM, most // 8)
    while size < most - room - len(images) * 2_000:
        pixels = Image.frombytes("RGB", (SIDE // 8, SIDE // 8), os.urandom(3 * (SIDE // 8) ** 2))
        content = encoded(pixels.resize((SIDE, SIDE)), "JPEG", quality=85)
        images.append((f"{len(images)}.jpg", content))
        size += len(content)
    return images


def _coco(images: list[tuple[str, bytes]]) -> bytes:
    """Return a COCO document with ten boxes for each image."""
    listed = [{"id": n, "file_name": name} for n, (name, _) in enumerate(images)]
    found = [
        {"image_id": n, "category_id": at % 2, "bbox": [at, at, 100, 90 + at]}
        for n in range(len(images))
        for at in range(BOXES)
    ]
    categories = [{"id": at, "name": f"label {at}"} for at in range(2)]
    document = {"images": listed, "annotations": found, "categories": categories}
    return json.dumps(document).encode()
