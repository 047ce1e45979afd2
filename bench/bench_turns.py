"""Measures whether slow webhooks or a large batch of some accounts delay other accounts.

Run: python -m bench.bench_turns [--lines N --only SECTION]. It starts a local stack. It counts how
many jobs of busy accounts end before the only job of another account ends. This count does not
depend on the machine's speed. The section `neighbours` measures predictions of an account while
another account calls just below its rate limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench.neighbours import FLOODS, measure_neighbours
from bench.report import Report, ceiling, say
from chalicelib.domain.jobs.batch import INTENT, PART_LINES
from tests.flows.client import LANGUAGE, Client
from tests.flows.test_batches import send_batch
from tests.flows.world import World, csv_file, made_rows
from tests.local_stack import LocalStack
from tests.receiver import Receiver

BUILD = Path(__file__).parents[1] / "build" / "bench"
HOOKS = "/v2/webhooks"
ACCOUNTS, TESTS = 5, 10
# Seconds after which the receiver answers.
SLOW_SECONDS = 9.0
LINES = 100_000
# Longest time until a job begins or ends, in seconds.
PATIENCE = 600.0
PAUSE = 0.02
SECTIONS = ["deletion", "batch", "neighbours"]


def delivered(callers: list[tuple[Client, str]]) -> int:
    """Count the webhook deliveries to which the receivers have answered."""
    return sum(
        item["status"] == "DELIVERED"
        for caller, hook in callers
        for item in caller.get(f"{HOOKS}/{hook}/deliveries", count=100).ok["data"]
    )


def measure_deletion(world: World, report: Report) -> None:
    """Delete a dataset while 50 webhook deliveries of five accounts wait for a slow receiver."""
    receiver = Receiver(seconds=SLOW_SECONDS)
    other = world.caller()
    dataset = other.dataset(csv_file(made_rows(60)))
    callers = []
    for _ in range(ACCOUNTS):
        caller = world.caller()
        asked = {"url": receiver.url, "events": ["dataset.ready"]}
        callers.append((caller, caller.json("POST", HOOKS, asked).ok["id"]))
    sent = [
        caller.json("POST", f"{HOOKS}/{hook}/test", {}).status
        for caller, hook in callers
        for _ in range(TESTS)
    ]
    while not receiver.received:
        time.sleep(PAUSE)
    before = delivered(callers)
    deletion = other.delete(f"{LANGUAGE}/datasets/{dataset['id']}").ok
    other.wait_deletion(deletion["id"], PATIENCE)
    answered = delivered(callers) - before
    report.add("deliveries sent", sum(status < 300 for status in sent), "")
    report.add("deliveries answered before another account's deletion", answered, "", ceiling(2))
    receiver.close()


def done(caller: Client, batch: str) -> int:
    """Return the number of lines of a batch that have been predicted."""
    return int(caller.get(f"{LANGUAGE}/batches/{batch}").ok["counts"]["done"])


def measure_batch(world: World, report: Report, lines: int) -> None:
    """Start a batch of one line while a large batch of another account runs."""
    many, one = world.caller("GOLD"), world.caller()
    texts = csv_file(made_rows(24))
    models = [caller.model(int(caller.dataset(texts)["id"])) for caller in (many, one)]
    large_file = ("text\n" + "".join(f"where is order {n}\n" for n in range(lines))).encode()
    large = send_batch(many, LANGUAGE, "large.csv", large_file, modelId=models[0])["id"]
    deadline = time.monotonic() + PATIENCE
    while not done(many, large):
        assert time.monotonic() < deadline
        time.sleep(PAUSE)
    before = done(many, large)
    small = send_batch(one, LANGUAGE, "small.csv", b"text\nhello\n", modelId=models[1])["id"]
    while not done(one, small):
        assert time.monotonic() < deadline
        time.sleep(PAUSE)
    parts = (done(many, large) - before) / PART_LINES[INTENT]
    report.add("lines of the large batch", lines, "")
    report.add("its parts that end before a batch of one line", parts, "", ceiling(1))


def main() -> int:
    """Run all sections; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_turns")
    parser.add_argument("--lines", type=int, default=LINES, help="lines of the large batch")
    parser.add_argument("--only", choices=SECTIONS, help="one section")
    parser.add_argument("--floods", nargs="+", choices=FLOODS, default=FLOODS)
    options = parser.parse_args()
    wanted = [options.only] if options.only else SECTIONS
    report = Report("Turns of accounts")
    environment = {"PRESAGE_DOWNLOAD_ALLOW": "127.0.0.1"}
    with (
        LocalStack(environment=environment) as stack,
        tempfile.TemporaryDirectory() as place,
    ):
        world = World(stack, Path(place))
        if "deletion" in wanted:
            measure_deletion(world, report)
            say("the deletion has ended")
        if "batch" in wanted:
            measure_batch(world, report, options.lines)
        if "neighbours" in wanted:
            measure_neighbours(world, report, tuple(options.floods))
        world.close()
    return report.finish(BUILD / "turns.json")


if __name__ == "__main__":
    sys.exit(main())
