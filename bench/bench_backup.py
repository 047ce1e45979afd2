"""Measures a backup: dumps 100,000 texts and 50 models, restores them elsewhere, and compares.

Run: python -m bench.bench_backup [--texts N --models N]. It starts two local stacks, fills the
first one over HTTP, and moves all of its data to the second one with `python -m infra.backup`.
Every row and every object is compared byte for byte. The last dump is made while clients write
data.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.bench_http import BIG_TEXTS, big_file, ceiling
from bench.report import Bar, Report, say
from infra.backups.folder import MANIFEST, PIECES
from infra.backups.objects import found
from infra.resources import table_resources
from tests.flows.client import LANGUAGE, Client
from tests.flows.load import Journal, Load, complaints, settle
from tests.flows.pictures import folders_zip
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
MODELS = 50
MODEL_ROWS = 24
MODEL_SECONDS = 600.0
PICTURES = 100
"""Images of each of two labels."""
MOVING_SECONDS = 3.0
"""Seconds for which callers write before the dump of a busy stack begins."""
DUMP_SECONDS = 60.0
AGAIN_SECONDS = 15.0
RESTORE_SECONDS = 120.0
MEMORY_GB = 0.5
SETS = ("SS", "NS", "BS")
"""DynamoDB's set types, whose members have no order."""
NAMED = 5
"""Number of differences that are printed by name."""
CHANGED_SHARE = 0.05
"""Most bytes that a dump after one small change may write, as a fraction of all bytes.

It applies from 10 MB on: in a smaller dump, the manifest alone may exceed it.
"""
SHARED_BYTES = 10_000_000


@dataclass(frozen=True)
class Run:
    """The result of a finished backup command."""

    seconds: float
    """Duration in seconds."""
    memory: float
    """Peak memory in GB."""


def run(stack: LocalStack, *arguments: str) -> Run:
    """Run `python -m infra.backup` for a stack. The command must succeed.

    Raises:
        RuntimeError: the command failed. The message contains its output.
    """
    environment = {**os.environ, "PRESAGE_STATE_DIR": str(stack.state.folder)}
    command = [sys.executable, "-m", "infra.backup", *arguments]
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - started
        output.seek(0)
        if process.returncode:
            raise RuntimeError(f"{command} failed: {output.read().decode()}")
    return Run(seconds, usage.ru_maxrss * 1024 / 1e9)


def files(folder: Path) -> dict[Path, int]:
    """Return the size of each file of a backup in bytes, by path."""
    found = [*(folder / PIECES).glob("*/*"), folder / MANIFEST]
    return {path: path.stat().st_size for path in found}


def written(folder: Path, before: Mapping[Path, int]) -> int:
    """Return the total size in bytes of the manifest and of the files that are not in `before`."""
    new = {path: size for path, size in files(folder).items() if path not in before}
    return sum(new.values()) + (folder / MANIFEST).stat().st_size


class Contents:
    """All table rows and bucket objects of a stack, read without the code under test."""

    def __init__(self, stack: LocalStack) -> None:
        settings = stack.settings
        dynamodb, s3 = stack.client("dynamodb"), stack.client("s3")
        self.rows: dict[tuple[str, str], bytes] = {}
        for table in table_resources(settings):
            short = table.name.removeprefix(f"{settings.name}-")
            for page in dynamodb.get_paginator("scan").paginate(TableName=table.name):
                for item in page["Items"]:
                    key = repr([item[name] for name in table.key_names])
                    self.rows[short, key] = repr(_plain(item)).encode()
        self.objects: dict[str, tuple[bytes, str]] = {}
        for key, *_ in found(s3, settings.bucket):
            answer = s3.get_object(Bucket=settings.bucket, Key=key)
            self.objects[key] = (answer["Body"].read(), answer["ContentType"])

    def differences(self, other: Contents) -> int:
        """Count rows and objects that differ or that only one stack has; print the first few."""
        pairs = ((self.rows, other.rows), (self.objects, other.objects))
        differing = [
            key
            for left, right in pairs
            for key in left.keys() | right.keys()
            if left.get(key) != right.get(key)
        ]
        for key in differing[:NAMED]:
            say(f"differs: {key}")
        return len(differing)


def _plain(value: Any) -> Any:
    """Sort the members and sets in a value, so that equal values compare as equal."""
    if isinstance(value, dict):
        return sorted(
            (name, sorted(inner) if name in SETS else _plain(inner))
            for name, inner in value.items()
        )
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Bench:
    """The two stacks, the API client and the report that all sections of this benchmark use."""

    report: Report
    """Receives the rows."""
    first: LocalStack
    """The stack with the data."""
    second: LocalStack
    """The empty stack."""
    caller: Client
    """The client of the account with the data."""
    folder: Path
    """The folder of the backup."""


def fill(caller: Client, texts: int, models: int) -> int:
    """Upload texts and images, and train models; return the id of the dataset of the models."""
    started = time.perf_counter()
    small = int(caller.dataset(csv_file(made_rows(MODEL_ROWS)))["id"])
    for number in range(models):
        model_id = str(caller.train(small, f"model {number}")["modelId"])
        ended = caller.wait_model(model_id, MODEL_SECONDS)
        assert ended["status"] == "SUCCEEDED", ended
    caller.vision().dataset(folders_zip(count=PICTURES), file_name="pictures.zip")
    # Uploaded last, so that nothing else waits for the embedding of these texts.
    big = caller.wait_dataset(int(caller.upload(big_file(texts), name="big")["id"]), 300)
    assert big["totalExamples"] == texts, big
    say(f"filled in {time.perf_counter() - started:.0f} s")
    return small


def bench_move(bench: Bench) -> None:
    """Dump one stack, restore the dump into the other stack, and compare their data."""
    dumped = run(bench.first, "dump", str(bench.folder))
    size = sum(files(bench.folder).values())
    verified = run(bench.first, "verify", str(bench.folder))
    restored = run(bench.second, "restore", str(bench.folder))
    left, right = Contents(bench.first), Contents(bench.second)
    say(f"{len(left.rows):,} rows, {len(left.objects):,} objects, {size / 1e6:.1f} MB")
    add = bench.report.add
    add("dump", dumped.seconds, "s", ceiling(DUMP_SECONDS))
    add("dump: memory", dumped.memory, "GB", ceiling(MEMORY_GB))
    add("dump: size", size / 1e6, "MB")
    add("verify", verified.seconds, "s")
    add("restore", restored.seconds, "s", ceiling(RESTORE_SECONDS))
    add("restore: memory", restored.memory, "GB", ceiling(MEMORY_GB))
    add("rows and objects that differ", left.differences(right), "", ceiling(0))


def bench_again(bench: Bench) -> int:
    """Add two examples and dump again; return the id of the dataset with these examples."""
    path, caller = f"{LANGUAGE}/datasets", bench.caller
    home = int(caller.json("POST", path, {"name": "home", "type": "text-intent"}).ok["id"])
    for label in ("left", "right"):
        fields = {"document": f"turn {label}", "label": label}
        assert caller.json("POST", f"{path}/{home}/examples", fields).status == 200
    before = files(bench.folder)
    again = run(bench.first, "dump", str(bench.folder))
    new = written(bench.folder, before)
    add = bench.report.add
    add("dump after two examples", again.seconds, "s", ceiling(AGAIN_SECONDS))
    whole = sum(files(bench.folder).values())
    bar = ceiling(CHANGED_SHARE) if whole >= SHARED_BYTES else None
    add("dump after two examples: written", new / 1e6, "MB")
    add("dump after two examples: share written", new / whole, "", bar)
    return home


def bench_moving(bench: Bench, home: int, trained: int) -> None:
    """Dump a stack while clients upload, train, add and delete; check the restored data."""
    bench.first.resume_workers()
    load = Load(bench.caller, home, trained, Journal())
    time.sleep(MOVING_SECONDS)
    moving = run(bench.first, "dump", str(bench.folder))
    load.end()
    bench.first.pause_workers()
    run(bench.second, "restore", "--replace", str(bench.folder))
    bench.second.resume_workers()
    with Client(bench.second.url, bench.caller.token) as there:
        settle(there, bench.second)
        wrong = complaints(there, bench.second)
    for line in wrong[:5]:
        say(line)
    answered = len(load.journal.uploads) + len(load.journal.texts)
    add = bench.report.add
    add("dump while callers write", moving.seconds, "s", ceiling(DUMP_SECONDS))
    add("uploads and examples answered meanwhile", answered, "", Bar(1))
    add("contradictions in what was restored", len(wrong), "", ceiling(0))


def main() -> int:
    """Run all sections; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_backup")
    parser.add_argument(
        "--texts", type=int, default=BIG_TEXTS, help="examples of the large dataset"
    )
    parser.add_argument("--models", type=int, default=MODELS, help="models that are trained")
    options = parser.parse_args()
    report = Report(f"Backup of {options.texts:,} texts and {options.models} models")
    # The stacks share a signing key, so tokens of the first one are valid in the second.
    secret = {"PRESAGE_TOKEN_SECRET": "one key for both stacks, longer than 32 bytes"}
    with (
        LocalStack(environment=secret) as first,
        LocalStack(environment=secret) as second,
        tempfile.TemporaryDirectory() as place,
    ):
        world = World(first, Path(place))
        caller = world.caller("GOLD", example_calls=1_000_000)
        bench = Bench(report, first, second, caller, Path(place) / "backup")
        trained = fill(caller, options.texts, options.models)
        first.pause_workers()
        second.pause_workers()
        bench_move(bench)
        home = bench_again(bench)
        bench_moving(bench, home, trained)
        world.close()
    return report.finish(BUILD / "backup.json")


if __name__ == "__main__":
    sys.exit(main())
