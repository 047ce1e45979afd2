"""Compares trainings of the profile `accurate` with one worker and with two workers.

The workers of the queue `embed` compute vectors. bench/text_scale.py runs the measurement. `python
-m bench.text_parts` runs the second worker, for the stack that the environment variables name.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.report import Report, ceiling, say
from bench.text_data import ROOT
from bench.text_service import POLL_SECONDS, short_texts
from chalicelib.config import Settings
from chalicelib.stores.jobs.queues import EMBED, queue_name
from infra.local import worker
from infra.local.options import parse
from infra.local.supervisor import load
from tests.flows.client import Client
from tests.flows.world import World, csv_file
from tests.local_stack import LocalStack

TEXTS, WAIT_SECONDS = 10_000, 2_400
ACCURATE = {"trainParams": json.dumps({"profile": "accurate"}), "epochs": 30}
ONE_THREAD = {"PRESAGE_THREADS": "1"}


def bench_parts(report: Report, asked: argparse.Namespace) -> None:
    """Train with one and two workers; before each training, delete the large encoder's vectors."""
    rows = short_texts(asked.data, min(asked.texts, TEXTS))
    name = f"{len(rows):,} texts, accurate"
    stack_of_one = LocalStack(environment=ONE_THREAD)
    with stack_of_one as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        caller = world.caller("GOLD")
        caller.poll_seconds = POLL_SECONDS
        dataset_id = int(caller.upload(csv_file(rows), "texts.csv")["id"])
        caller.wait_dataset(dataset_id, WAIT_SECONDS)
        while _keys(stack, f"datasets/{dataset_id}/parts/"):
            time.sleep(0.5)
        one = _trained(stack, caller, dataset_id)
        with _second_worker(stack):
            two = _trained(stack, caller, dataset_id)
        world.close()
    seconds = [_seconds(made["trainStats"]["datasetLoadTime"]) for made in (one, two)]
    report.add(f"{name}: vectors, one worker", seconds[0], "s")
    report.add(f"{name}: vectors, two workers", seconds[1], "s")
    report.add(f"{name}: two over one", seconds[1] / seconds[0], "", ceiling(0.6))
    digests = {made["artifactSha256"] for made in (one, two)}
    report.add(f"{name}: different artifacts", len(digests), "", ceiling(1))


def _trained(stack: LocalStack, caller: Client, dataset_id: int) -> dict[str, Any]:
    """Train without stored vectors of the large encoder; return the record and the model card."""
    folder = f"datasets/{dataset_id}/embeddings/mpnet"
    for key in _keys(stack, folder):
        stack.client("s3").delete_object(Bucket=stack.settings.bucket, Key=key)
    model_id = str(caller.train(dataset_id, "accurate", **ACCURATE)["modelId"])
    ended = caller.wait_model(model_id, WAIT_SECONDS)
    assert ended["status"] == "SUCCEEDED", ended
    say(f"{len(_keys(stack, folder))} parts; {ended['trainStats']}")
    return {**caller.get(f"{caller.base}/models/{model_id}/card").ok, **ended}


@contextmanager
def _second_worker(stack: LocalStack) -> Iterator[None]:
    """Run a second worker of the queue `embed` while the `with` block runs."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.text_parts"],
        cwd=ROOT,
        env={**os.environ, **stack.given, **stack.environment, **ONE_THREAD},
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _seconds(duration: str) -> float:
    """Convert HH:MM:SS:mmm to seconds."""
    hours, minutes, whole, milliseconds = map(int, duration.split(":"))
    return 3600 * hours + 60 * minutes + whole + milliseconds / 1000


def _keys(stack: LocalStack, prefix: str) -> list[str]:
    """Return up to a thousand keys of the stack's bucket that begin with `prefix`."""
    page = stack.client("s3").list_objects_v2(Bucket=stack.settings.bucket, Prefix=prefix)
    return [found["Key"] for found in page.get("Contents", ())]


def main() -> None:
    """Process messages of the queue `embed` until the process is killed."""
    settings, options = Settings.from_environment(os.environ), parse([], os.environ)
    os.nice(options.niceness)
    app = load(options.app)
    sources = worker.event_source_mappings(app, settings)
    [source] = [one for one in sources if one.queue == queue_name(settings, EMBED)]
    worker.Lane([source], settings, options).run()


if __name__ == "__main__":
    main()
