"""Measures batches of texts: cost, memory, and the delay that a batch causes to single calls.

bench/bench_batches.py runs these functions as its sections.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.bench_http import peak_bytes
from bench.report import Bar, Report, ceiling
from bench.text_service import short_texts
from chalicelib.domain.common.limits import MAX_BODY_BYTES
from infra.models import default_directory
from tests.flows.big_archive import post_file
from tests.flows.client import LANGUAGE, Client, opened
from tests.flows.test_batches import ENDED, single
from tests.flows.world import World, csv_file
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[1]
TRAINED_ON, CALLERS, COMPARED, WAIT_SECONDS = 1_500, 8, 100, 7_200
CONSTANT = "bench.constant_app:app"
USAGE = "/v2/apiusage"
_ENCODE = """
import json, sys, time
from pathlib import Path
from chalicelib.engines.text.encoding.pool import EncoderPool
texts = json.load(sys.stdin)
encoder = EncoderPool(Path(sys.argv[1])).get("bge")
encoder.encode(texts[:64], threads=2)
wall, cpu = time.perf_counter(), time.process_time()
for first in range(0, len(texts), 1000):
    encoder.encode(texts[first : first + 1000], threads=2)
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""


@contextmanager
def served(app: str = "app:app", **fields: object) -> Iterator[tuple[LocalStack, Client, World]]:
    """Start a local stack; yield the stack, a client, and a `World`, which creates accounts."""
    environment = {"PRESAGE_RATE_FACTOR": "1000"}
    with LocalStack(app, environment=environment) as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        caller = world.caller("GOLD")
        caller.poll_seconds = 0.5
        yield stack, caller, world
        world.close()


def model_of(client: Client, asked: argparse.Namespace) -> str:
    """Train a model with the fast profile on queries with 150 labels; return the model's id."""
    rows = short_texts(asked.data, 10**9)[:: max(1, 150_000 // TRAINED_ON)]
    fields = {"trainParams": json.dumps({"profile": "fast"})}
    dataset_id = int(client.upload(csv_file(rows))["id"])
    client.wait_dataset(dataset_id, WAIT_SECONDS)
    model_id = str(client.train(dataset_id, **fields)["modelId"])
    assert client.wait_model(model_id, WAIT_SECONDS)["status"] == "SUCCEEDED"
    return model_id


def lines_of(texts: Iterable[str]) -> bytes:
    """Return the file of a batch, with a JSON line for each text."""
    return b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)


def begin(client: Client, model: str, content: bytes, call: str = "batches", **more: Any) -> str:
    """Start a batch or a ranking; return the API path of its record."""
    name = "lines.csv" if content.startswith(b"text") else "lines.jsonl"
    sent = {"modelId": model, **more}
    files = {"data": (name, content)}
    if len(content) > MAX_BODY_BYTES:
        sent["path"], files = _sent_before(client, name, content), {}
    made = client.multipart("POST", f"{LANGUAGE}/{call}", sent, files).ok
    return f"{LANGUAGE}/batches/{made['id']}"


def _sent_before(client: Client, name: str, content: bytes) -> str:
    """Upload a large file with a presigned form; return the path by which calls name the file."""
    issued = client.json("POST", "/v2/uploads", {"name": name}).ok
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        status, answer = post_file(issued, file)
    assert status == 204, answer
    return str(issued["path"])


def end(client: Client, path: str) -> dict[str, Any]:
    """Wait for the end of a batch; return its record."""
    found = client.wait(path, lambda record: record["status"] in ENDED, WAIT_SECONDS)[-1]
    assert found["status"] == "SUCCEEDED", found
    return found


def bench_speed(report: Report, asked: argparse.Namespace) -> None:
    """Compare a batch with `encode` alone and with single calls, in time and texts per second."""
    texts = [text for text, _ in short_texts(asked.data, asked.texts)]
    with served() as (stack, client, _):
        model = model_of(client, asked)
        end(client, begin(client, model, lines_of(texts[:100])))
        content = lines_of(texts)
        before, begun = _processor(stack), time.perf_counter()
        record = end(client, begin(client, model, content, numResults=1))
        wall, processor = time.perf_counter() - begun, _processor(stack) - before
        assert record["counts"]["done"] == len(texts)
        singly = _calling(client, model, texts[: len(texts) // 10])
    alone_wall, alone = _encode(texts)
    rates = {"batch": len(texts) / wall, "encode": len(texts) / alone_wall, "calls": singly}
    name = f"{len(texts):,} texts"
    report.add(f"{name}: processor of the batch", processor, "s")
    report.add(f"{name}: processor of encode alone", alone, "s")
    report.add(f"{name}: processor, batch over encode", processor / alone, "", ceiling(1.25))
    report.add(f"{name}: texts a second as a batch", rates["batch"], "")
    report.add(f"{name}: texts a second of encode alone", rates["encode"], "")
    report.add(f"{name}: rate, batch over encode", rates["batch"] / rates["encode"], "", Bar(0.75))
    report.add(f"{name}: texts a second, {CALLERS} callers", rates["calls"], "")
    report.add(f"{name}: rate, batch over callers", rates["batch"] / rates["calls"], "", Bar(1.0))


def bench_memory(report: Report, asked: argparse.Namespace) -> None:
    """Compare the memory of two batches, one ten times as long as the other; check the results."""
    peaks = []
    for app, count in (("app:app", asked.lines // 10), (CONSTANT, asked.lines)):
        with served(app) as (stack, client, world):
            model = model_of(client, asked)
            world.set_used(client, -count)
            rows = "".join(f"{_text(n)},{n}\n" for n in range(count)).encode()
            path = begin(client, model, b"text,id\n" + rows, numResults=1)
            wrong = _wrong(client, model, end(client, path), count)
            peaks.append(_largest(stack))
            report.add(f"{count:,} lines: largest process", peaks[-1], "MB", ceiling(600))
            report.add(f"{count:,} lines: not right", wrong, "", ceiling(0))
            if app == CONSTANT:
                world.set_used(client, -count)
                path = begin(client, model, b"text,id\n" + rows, "rankings", count=100)
                counts = end(client, path)["counts"]
                off = count - counts["done"] + counts["failed"]
                report.add(f"{count:,} lines ranked: not judged", off, "", ceiling(0))
                peak = _largest(stack)
                report.add(f"{count:,} lines ranked: largest process", peak, "MB", ceiling(600))
    report.add("largest processes differ by", abs(peaks[1] - peaks[0]), "MB", ceiling(50))


def bench_latency(report: Report, asked: argparse.Namespace) -> None:
    """Measure the time of single calls without a batch and while a batch runs."""
    texts = [text for text, _ in short_texts(asked.data, asked.texts)]
    with served() as (_, client, _):
        model = model_of(client, asked)
        idle = _p99(client, model, texts, lambda: None)
        path, over = begin(client, model, lines_of(texts)), threading.Event()

        def wait() -> None:
            with client.clone() as mine:
                mine.poll_seconds = 1.0
                end(mine, path)
            over.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        busy = _p99(client, model, texts, lambda: over.is_set() and 1)
        waiting.join()
    report.add("single call, idle: p99", 1_000 * idle, "ms")
    report.add("single call during a batch: p99", 1_000 * busy, "ms")
    report.add("p99 during a batch over idle", busy / idle, "", ceiling(2))


def bench_quota(report: Report, asked: argparse.Namespace) -> None:
    """Run a batch of more lines than the quota allows, without and with `partial`."""
    texts = [f"text {n}" for n in range(asked.texts)]
    left = len(texts) // 2
    with served(CONSTANT) as (_, client, world):
        model = model_of(client, asked)
        limit = int(client.get(USAGE).ok["data"][0]["predictionsMax"])
        world.set_used(client, limit - left)
        sent = {"modelId": model}, {"data": ("lines.jsonl", lines_of(texts))}
        answer = client.multipart("POST", f"{LANGUAGE}/batches", *sent)
        refused = (answer.status, _left(client)) == (429, left)
        counts = end(client, begin(client, model, lines_of(texts), partial="true"))["counts"]
    report.add("refused whole without partial", float(refused), "", Bar(1))
    report.add("with partial: lines", counts["done"], "", Bar(len(texts)))
    off = abs(counts["failed"] - (len(texts) - left))
    report.add("with partial: answers too few or too many", off, "", ceiling(0))


def _left(client: Client) -> int:
    return int(client.get(USAGE).ok["data"][0]["predictionsRemaining"])


def _own(stack: LocalStack) -> list[tuple[str, int]]:
    return [(name, pid) for name, pid in stack.processes.items() if name != "aws"]


def _largest(stack: LocalStack) -> float:
    """Return the largest peak memory, in MB, of a stack's processes except the AWS emulator."""
    return max(peak_bytes(pid) for _, pid in _own(stack)) / 1e6


def _processor(stack: LocalStack) -> float:
    """Return the processor seconds of a stack and its child processes, except the AWS emulator."""
    total = 0
    for _, pid in _own(stack):
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def _encode(texts: Sequence[str]) -> tuple[float, float]:
    """Encode texts in a separate process; return wall time and processor time in seconds."""
    done = subprocess.run(
        [sys.executable, "-c", _ENCODE, str(default_directory())],
        input=json.dumps(list(texts)),
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    wall, processor = json.loads(done.stdout)
    return float(wall), float(processor)


def _calling(client: Client, model: str, texts: Sequence[str]) -> float:
    """Predict single texts in several threads at once; return the number of answers per second."""

    def ask(share: Sequence[str]) -> None:
        with client.clone() as mine:
            for text in share:
                assert mine.predict(model, text, numResults=1).ok

    begun = time.perf_counter()
    with ThreadPoolExecutor(CALLERS) as pool:
        list(pool.map(ask, [texts[n::CALLERS] for n in range(CALLERS)]))
    return len(texts) / (time.perf_counter() - begun)


def _p99(client: Client, model: str, texts: Sequence[str], is_over: Any) -> float:
    """Predict 100 to 400 texts one by one; return the 99th percentile of the times, in seconds."""
    taken: list[float] = []
    for text in texts[:400]:
        begun = time.perf_counter()
        assert client.predict(model, text, numResults=1).ok
        taken.append(time.perf_counter() - begun)
        if is_over():
            break
    assert len(taken) >= 100, "the batch was over too soon: --texts"
    return sorted(taken)[int(0.99 * len(taken))]


def _text(number: int) -> str:
    return f"{'abcdefgh'[number % 8] * 40} {number}"


def _wrong(client: Client, model: str, record: dict[str, Any], count: int) -> int:
    """Count lines of a batch that are out of order, have no label, or differ from a single call."""
    wrong, seen, step = 0, 0, max(1, count // COMPARED)
    with opened(record["resultUrl"]) as answer:
        for line in answer:
            found = json.loads(line)
            wrong += found.get("id") != str(seen) or len(found.get("probabilities", ())) != 1
            if seen % step == 0:
                said = client.predict(model, _text(seen), numResults=1)
                wrong += line.rstrip(b"\n") != single(str(seen), said.body)
            seen += 1
    return wrong + abs(count - seen)
