"""Chains of messages: each run of a function sends the message of the next run."""

from __future__ import annotations

import json
import time
from typing import Any

from chalicelib.domain.jobs.batch import INTENT, PART_LINES
from infra.template.functions import FUNCTIONS
from tests.deployed.client import SECONDS, StageClient
from tests.deployed.stage import Deployment
from tests.deployed.test_whole_run import events
from tests.deployed.unproved import LONGEST_CHAIN
from tests.flows.client import LANGUAGE
from tests.flows.test_batches import answered

PARTS = LONGEST_CHAIN + 3
[EMBED_TEXTS] = [function for function in FUNCTIONS if function.name == "embed_texts"]


def find_runs(stage: Deployment, batch_id: str) -> list[dict[str, Any]]:
    """Return the runs of a batch's messages, as the function that answers its parts logged them."""
    return [
        event
        for event in events(stage, EMBED_TEXTS)
        if event["event"] == "job_run" and event.get("batch") == batch_id
    ]


def test_a_batch_has_more_hops_than_lambda_allows_by_default(
    stage: Deployment, client: StageClient
):
    """Part n sends the message of part n + 1 in one unbroken chain, each delivered once."""
    names = {f["FunctionName"] for f in stage.client("lambda").list_functions()["Functions"]}
    [name] = [name for name in names if name.endswith(EMBED_TEXTS.short)]
    facts = stage.client("lambda").get_function_configuration(FunctionName=name)
    assert facts["Environment"]["Variables"]["PRESAGE_BATCH_CHAINS"] == "1"
    # Most lines are empty and end as errors: the hops are measured here, not the engine.
    good = PART_LINES[INTENT] // 2
    rows = [
        f"{n},{'where is my parcel' if n % good == 0 else ''}"
        for n in range(PART_LINES[INTENT] * PARTS)
    ]
    content = "\n".join(["id,text", *rows, ""]).encode()
    record, lines = answered(client, LANGUAGE, "chain.csv", content, modelId="GlobalIntentModel")

    assert [json.loads(line)["id"] for line in lines] == [str(n) for n in range(len(rows))]
    assert record["counts"]["failed"] == len(rows) - 2 * PARTS
    deadline = time.monotonic() + SECONDS
    # The emulator writes the log of a run after its end.
    while len(runs := find_runs(stage, record["id"])) < PARTS:
        assert time.monotonic() < deadline, runs
        time.sleep(0.3)
    hops = {run["message_id"] for run in runs}
    assert len(hops) == len(runs) == PARTS > LONGEST_CHAIN
    assert {(run["outcome"], run["delivery"]) for run in runs} == {("done", 1)}
