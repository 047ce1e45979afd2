"""Measures the service over HTTP: latency, throughput, quotas, trainings and large files.

Run: python -m bench.bench_http [--data FOLDER] [--only SECTION]. It starts a separate local stack.
Each latency is compared with the latency of `GET /v2/health`, a route that does almost nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.flood import flooding
from bench.folder_models import UNCOUNTED, ask
from bench.http_browsing import bench_browse
from bench.http_corrections import bench_corrections
from bench.report import Bar, Report, ceiling, say
from chalicelib.container import Container
from chalicelib.domain.accounts.rates import RATES, RECORDS, Rate
from chalicelib.services.predictions.texts import PredictionService
from chalicelib.stores.accounts.rates import RateStore
from chalicelib.stores.aws.clients import Clients
from tests.flows.client import LANGUAGE, Client
from tests.flows.crowd import Asked, mixed_calls, run_crowd, spend
from tests.flows.world import World, csv_file, weather
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"
QUESTION = "will it rain in the next hours"
WARM_UP = 50
PREDICTIONS = 600
CLIENTS = 8
CLIENT_CALLS = 150
QUOTA_ROUNDS = 20
QUOTA_LEFT = 1_000
MIXED_THREADS = 32
MIXED_CALLS = 10_000
STARTS = 15
BIG_TEXTS = 100_000
BIG_WORDS = 29
BIG_BYTES = 25 * 1024 * 1024
FLOOD_PAIRS = 5
FLOOD_CALLS = 2_000
HEALTH_PAUSE = 0.05
"""Seconds between two samples of the service while it works."""


def quantile(values: Sequence[float], share: float) -> float:
    """Return the quantile `share`, 0 to 1, of values."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long one call takes, in milliseconds."""
    start = time.perf_counter()
    call()
    return 1_000 * (time.perf_counter() - start)


def profile(name: str) -> dict[str, str]:
    """Return the form field that selects a training's profile."""
    return {"trainParams": json.dumps({"profile": name})}


@dataclass
class Bench:
    """The stack, the accounts and the report that all sections of this benchmark use."""

    stack: LocalStack
    """The running service."""
    world: World
    """The accounts of the stack."""
    report: Report
    """Receives the rows."""
    data: Path
    """Folder of the evaluation data."""

    def __post_init__(self) -> None:
        """Sign in an account, and train the model that the sections use."""
        self.caller = self.world.caller("GOLD", example_calls=1_000_000)
        self.dataset_id = int(self.caller.dataset(weather())["id"])
        self.model_id = self.caller.model(self.dataset_id, **profile("fast"))

    def health(self) -> float:
        """Return the median latency of the health route, in milliseconds."""
        durations = [milliseconds(lambda: self.caller.get("/v2/health")) for _ in range(200)]
        return quantile(durations, 0.5)


def bench_latency(bench: Bench) -> None:
    """Measure the latency of one client with one warm model."""
    durations = answer_times(bench, bench.model_id)
    health = bench.health()
    peer = ("GET /v2/health", health)
    add = bench.report.add
    add("intent, 1 client: p50", quantile(durations, 0.5), "ms", ceiling(20), peer)
    add("intent, 1 client: p50 over health's", quantile(durations, 0.5) / health, "x", ceiling(8))
    add("intent, 1 client: p99", quantile(durations, 0.99), "ms", ceiling(50), peer)
    add("intent: engine alone, p50", engine_share(bench), "ms", ceiling(5))
    accurate = bench.caller.model(bench.dataset_id, **profile("accurate"))
    durations = answer_times(bench, accurate)
    add("intent, accurate profile, 1 client: p50", quantile(durations, 0.5), "ms")


def answer_times(bench: Bench, model_id: str) -> list[float]:
    """Return the time of each prediction in milliseconds, after a few predictions to warm up."""

    def ask(number: int) -> None:
        assert bench.caller.predict(model_id, f"{QUESTION} {number}").status == 200

    for number in range(WARM_UP):
        ask(number)
    return [milliseconds(lambda n=n: ask(n)) for n in range(PREDICTIONS)]


def engine_share(bench: Bench) -> float:
    """Return the median time of a prediction in this process, without HTTP and stores."""
    container = Container(bench.stack.settings)
    service = PredictionService(container.stores.served_models, UNCOUNTED, container.encoders)
    model = container.stores.served_models.find(
        bench.world.account_id(bench.caller), bench.model_id
    )

    def ask_once(number: int) -> None:
        ask(service, model, f"{QUESTION} {number}")

    for number in range(WARM_UP):
        ask_once(number)
    return quantile([milliseconds(lambda n=n: ask_once(n)) for n in range(PREDICTIONS)], 0.5)


def bench_client(bench: Bench) -> None:
    """Count the AWS calls of one prediction, and measure the processor time of these calls."""
    container, trips = Container(bench.stack.settings), Counter[str]()
    clients = container.stores.clients
    for client in (clients.dynamodb, clients.dynamodb_once):
        client.meta.events.register("before-call", lambda model, **_: trips.update([model.name]))

    def ask() -> None:
        """Make the AWS calls of a prediction, without running the engine."""
        caller = container.tokens.find_caller(bench.caller.token, lambda: bench.model_id)
        assert caller.model is not None
        container.allowances.predict(caller.account, caller.model, lambda: None)

    for _ in range(WARM_UP):
        ask()
    trips.clear()
    began = time.process_time()
    for _ in range(PREDICTIONS):
        ask()
    used = 1_000 * (time.process_time() - began) / PREDICTIONS
    bench.report.add("trips to AWS", trips.total() / PREDICTIONS, "", ceiling(2))
    bench.report.add("processor time of their client", used, "ms", ceiling(4.5))


def bench_throughput(bench: Bench) -> None:
    """Send predictions from eight clients at once; check that all succeed and are counted."""
    caller = bench.world.caller("GOLD")
    dataset_id = int(caller.dataset(weather())["id"])
    model_id = caller.model(dataset_id, **profile("fast"))
    calls = CLIENTS * CLIENT_CALLS

    def predict(clients: dict[int, Client], number: int) -> str | None:
        client = clients.setdefault(0, caller.clone())
        status = client.predict(model_id, f"{QUESTION} {number}").status
        return None if status == 200 else str(status)

    def look(clients: dict[int, Client], _: int) -> None:
        clients.setdefault(0, caller.clone()).get("/v2/health")

    run_crowd(CLIENTS, CLIENTS, predict)
    started = time.perf_counter()
    wrong = run_crowd(CLIENTS, calls, predict)
    rate = calls / (time.perf_counter() - started)
    started = time.perf_counter()
    run_crowd(CLIENTS, calls, look)
    health = calls / (time.perf_counter() - started)
    peer = ("GET /v2/health", health)
    used = caller.get("/v2/apiusage").ok["data"][0]["predictionsUsed"]
    bench.report.add("intent, 8 clients: rate", rate, "/s", Bar(80), peer)
    bench.report.add("intent, 8 clients: rate over health's", rate / health, "x", Bar(0.25))
    bench.report.add("intent, 8 clients: errors", len(wrong), "", ceiling(0))
    off = abs(used - calls - CLIENTS)
    bench.report.add("intent, 8 clients: predictions miscounted", off, "", ceiling(0))


def bench_start(bench: Bench) -> None:
    """Measure the time from the request for a training to its start, on an idle stack."""
    dataset_id = int(bench.caller.dataset(weather())["id"])
    durations = []
    for number in range(STARTS):
        time.sleep(0.3)
        posted_at = time.time()
        model_id = bench.caller.train(dataset_id, f"start {number}")["modelId"]
        seen = bench.caller.watch_model(model_id)
        moments = [state["updatedAt"] for state in seen if state["status"] == "RUNNING"]
        if moments:
            began = datetime.strptime(moments[0], "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
            durations.append(1_000 * (began - posted_at))
    value = quantile(durations, 0.5)
    bench.report.add("POST train to handler's start: p50", value, "ms", ceiling(100))


def bench_case(bench: Bench) -> None:
    """Upload 150 texts; check the number of examples of each label, and time a training."""
    content = (bench.data / "text" / "case_routing_intent.csv").read_bytes()
    dataset = bench.caller.dataset(content, name="case")
    sizes = sorted(item["numExamples"] for item in dataset["labelSummary"]["labels"])
    off = abs(dataset["totalExamples"] - 150) + (sizes != [24, 26, 26, 30, 44])
    bench.report.add("case_routing_intent.csv: counts that are off", off, "", ceiling(0))
    started = time.perf_counter()
    bench.caller.model(int(dataset["id"]))
    seconds = time.perf_counter() - started
    bench.report.add("150 texts: POST train to SUCCEEDED", seconds, "s", ceiling(5))


def bench_mixed(bench: Bench) -> None:
    """Send requests of four accounts from 32 threads; check that each gets only its own data."""
    crowd = []
    for number in range(4):
        caller = bench.world.caller("GOLD")
        labels = [f"account{number}-{side}" for side in ("left", "right")]
        rows = [(f"{label.split('-')[1]} turn {n}", label) for label in labels for n in range(6)]
        model_id = caller.model(int(caller.dataset(csv_file(rows), name=f"set {number}")["id"]))
        crowd.append(Asked(caller, model_id, frozenset(labels), f"set {number}"))
    started = time.perf_counter()
    wrong = run_crowd(MIXED_THREADS, MIXED_CALLS, mixed_calls(crowd))
    rate = MIXED_CALLS / (time.perf_counter() - started)
    for trouble in wrong[:3]:
        say(trouble)
    name = f"{MIXED_CALLS} mixed requests of {MIXED_THREADS} threads"
    bench.report.add(f"{name}: wrong", len(wrong), "", ceiling(0))
    bench.report.add(f"{name}: rate", rate, "/s")


def bench_quota(bench: Bench) -> None:
    """Let 64 callers use up 1,000 predictions, repeatedly; check that exactly 1,000 succeed."""
    exact = 0
    for number in range(QUOTA_ROUNDS):
        caller = bench.world.caller()
        bench.world.set_used(caller, 2_000 - QUOTA_LEFT)
        statuses = spend(caller, "CommunitySentiment", QUOTA_LEFT + 64)
        exact += statuses == {200: QUOTA_LEFT, 429: 64}
        say(f"round {number + 1}: {statuses}")
    name = f"64 callers at a limit of {QUOTA_LEFT}: exact rounds of {QUOTA_ROUNDS}"
    bench.report.add(name, exact, "", Bar(QUOTA_ROUNDS))


def bench_banking(bench: Bench) -> None:
    """Train a model on BANKING77 and predict over HTTP; report accuracy and times."""
    content = (bench.data / "text" / "banking77_train.csv").read_bytes()
    started = time.perf_counter()
    dataset_id = int(bench.caller.dataset(content, name="banking")["id"])
    say(f"BANKING77 uploaded in {time.perf_counter() - started:.1f} s")
    for name, bar in (("fast", ceiling(60)), ("accurate", None)):
        started = time.perf_counter()
        model_id = str(bench.caller.train(dataset_id, **profile(name))["modelId"])
        ended = bench.caller.wait_model(model_id, 600)
        seconds = time.perf_counter() - started
        say(f"{ended['status']}, {ended['trainStats']}")
        bench.report.add(f"BANKING77, {name}: POST train to SUCCEEDED", seconds, "s", bar)
    peak = peak_bytes(bench.stack.processes["train"]) / 1e9
    bench.report.add("BANKING77: peak memory of the training worker", peak, "GB")
    delete(bench.caller, dataset_id)


def bench_big(bench: Bench) -> None:
    """Upload 25 MB; measure time, memory and latency of other calls; then read the last page."""
    content = big_file()
    say(f"a file of {len(content) / 1e6:.1f} MB, {len(content.split()):,} words")
    caller, add = bench.caller, bench.report.add
    with watched(bench) as watch:
        started = time.perf_counter()
        posted = caller.upload(content, name="big")
        done = caller.wait_dataset(posted["id"], 180)
        seconds = time.perf_counter() - started
    off = abs(done["totalExamples"] - BIG_TEXTS) + (done["statusMsg"] != "SUCCEEDED")
    add("25 MB of text: examples that are off", off, "", ceiling(0))
    add("25 MB of text: POST to SUCCEEDED", seconds, "s", ceiling(60))
    add("25 MB of text: memory of the worker", max(watch.memory) / 1e9, "GB", ceiling(1.5))
    name = "25 MB of text: GET /v2/health meanwhile, p99"
    add(name, quantile(watch.durations, 0.99), "ms", ceiling(250), ("idle p50", bench.health()))
    path = f"{LANGUAGE}/datasets/{posted['id']}/examples"
    pages = [
        milliseconds(lambda: caller.get(path, offset=BIG_TEXTS - 100, count=100).ok)
        for _ in range(20)
    ]
    add("page 1,000 of 100,000 examples: p50", quantile(pages, 0.5), "ms", ceiling(60))
    delete(caller, int(posted["id"]))


def big_file(texts: int = BIG_TEXTS) -> bytes:
    """Make a file of texts of about 250 characters; 100,000 texts are just below 25 MB."""
    chosen = random.Random(7)
    letters = "abcdefghijklmnoprstuvw"
    words = ["".join(chosen.choices(letters, k=chosen.randint(5, 10))) for _ in range(5_000)]
    rows = []
    for number in range(texts):
        text = " ".join(chosen.choices(words, k=BIG_WORDS - 1))
        rows.append((f"{text} {number}", f"label-{number % 50}"))
    content = csv_file(rows)
    most = BIG_BYTES * texts // BIG_TEXTS
    assert 0.9 * most < len(content) < most, len(content)
    return content


@dataclass
class Watch:
    """Latencies and memory sizes that were sampled while the service worked."""

    durations: list[float]
    """Latencies of the health route, in milliseconds."""
    memory: list[int]
    """Resident memory of the worker, in bytes."""


@contextmanager
def watched(bench: Bench) -> Iterator[Watch]:
    """Sample latency and memory while the `with` block runs; yield the samples."""
    watch, is_over = Watch([], []), threading.Event()
    worker = bench.stack.processes["ingest"]

    def look() -> None:
        with bench.caller.clone() as client:
            while not is_over.wait(HEALTH_PAUSE):
                watch.durations.append(milliseconds(lambda: client.get("/v2/health").ok))
                watch.memory.append(resident_bytes(worker))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield watch
    finally:
        is_over.set()
        thread.join()


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    return _status(pid, "VmRSS:")


def peak_bytes(pid: int) -> int:
    """Return the peak memory of a process, in bytes."""
    return _status(pid, "VmHWM:")


def _status(pid: int, name: str) -> int:
    """Return the value of the line `name` of /proc/PID/status, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def delete(caller: Client, dataset_id: int) -> None:
    """Delete a dataset, so that embedding its texts does not slow the next section."""
    record = caller.delete(f"{LANGUAGE}/datasets/{dataset_id}").ok
    caller.wait_deletion(record["id"], 120)


def bench_flood(bench: Bench) -> None:
    """Measure predictions of other accounts while one account calls at ten times its rate limit.

    Calls below the limit slow other accounts down, too. So the latency is compared twice: with the
    latency while this account makes no calls, and while it calls just below its limit.
    """
    rate = RATES["STARTER"][RECORDS]
    flooder, seen = bench.world.caller("STARTER"), Counter[str]()
    ratios: dict[str, list[float]] = {"without": [], f"{0.9 * rate:g}/s": []}
    answer_times(bench, bench.model_id)
    for number in range(FLOOD_PAIRS):
        others = [flood_leg(bench)]
        with flooding(bench.stack.url, str(flooder.token), 0.9 * rate, Counter()):
            others.append(flood_leg(bench))
        empty_bucket(bench, flooder)
        with flooding(bench.stack.url, str(flooder.token), 10 * rate, seen):
            flooded = flood_leg(bench)
        for found, other in zip(ratios.values(), others, strict=True):
            found.append(flooded / other)
        calm, allowed = others
        say(
            f"pair {number + 1}: p99 {calm:.1f} ms, next to the allowed rate {allowed:.1f} ms, "
            f"next to the flood {flooded:.1f} ms; {dict(seen)}"
        )
    for other, found in ratios.items():
        name = f"p99 next to a flood of {10 * rate:g}/s, to {other}: median of {FLOOD_PAIRS}"
        bench.report.add(name, quantile(found, 0.5), "x", ceiling(1.2))


def flood_leg(bench: Bench) -> float:
    """Make predictions one after the other; return the 99th percentile of the latency in ms."""
    ask = bench.caller.predict
    return quantile(
        [
            milliseconds(lambda n=n: ask(bench.model_id, f"{QUESTION} {n}").ok)
            for n in range(FLOOD_CALLS)
        ],
        0.99,
    )


def empty_bucket(bench: Bench, flooder: Client) -> None:
    """Use up an account's burst allowance, so that its rate limit applies to the next calls."""
    settings, now = bench.stack.settings, datetime.now(UTC)
    rate = Rate(RATES["STARTER"][RECORDS])
    store = RateStore(Clients(settings))
    store.draw(bench.world.account_id(flooder), RECORDS, rate, rate.burst, now)


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "latency": bench_latency,
    "client": bench_client,
    "throughput": bench_throughput,
    "start": bench_start,
    "case": bench_case,
    "mixed": bench_mixed,
    "quota": bench_quota,
    "banking": bench_banking,
    "big": bench_big,
    "flood": bench_flood,
    "browse": bench_browse,
    "corrections": bench_corrections,
}


def main() -> int:
    """Run the sections; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--only", choices=SECTIONS, action="append", metavar="SECTION")
    arguments = parser.parse_args()
    if not (arguments.data / "text").is_dir():
        print(f"The evaluation data is absent: {arguments.data} has no folder text. Use --data.")
        return 2
    report = Report("The service over HTTP")
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        bench = Bench(stack, World(stack, Path(folder)), report, arguments.data)
        for name in arguments.only or SECTIONS:
            say(name)
            SECTIONS[name](bench)
        bench.world.close()
    return report.finish(BUILD / "http.json")


if __name__ == "__main__":
    sys.exit(main())
