"""Measures the client: its import, its size, a call, and the upload of a file of 500 MB.

Run: python -m bench.bench_client [--only import|size|call|upload]. Each time is compared in the
same run with a peer: the import of httpx, or a call with httpx alone.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from bench.report import Report, ceiling
from tests.flows.world import World
from tests.local_stack import LocalStack

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "client" / "src"
IMPORTS, CALLS, ROUNDS = 20, 100, 7
MEGABYTES = 500
IMPORT = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
UPLOAD = """
import resource, sys
from presage import Presage
with Presage.from_env() as client:
    client.usage()
    print(client.uploads.send(sys.argv[1], progress=False))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def import_ratio(repeats: int = IMPORTS) -> float:
    """Return the median time of `import presage`, divided by the median time of `import httpx`."""
    seconds: dict[str, list[float]] = {"httpx": [], "presage": []}
    for _ in range(repeats + 1):
        for name, found in seconds.items():
            found.append(float(python(IMPORT.format(name))))
    httpx, presage = (statistics.median(found[1:]) for found in seconds.values())
    return presage / httpx


def python(code: str, *arguments: str, **variables: str) -> str:
    """Run a Python program that can import the client, and return its output."""
    # Installed packages have byte code. Without it, the time of an import would include
    # compilation.
    cached = {"PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **cached, "PYTHONPATH": str(SOURCE), **variables}
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return run.stdout


def packed_size() -> int:
    """Return the size in bytes of the package's files, compressed as in a wheel."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(SOURCE.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, path.relative_to(SOURCE))
    return stream.tell()


def call_ratio(url: str, email: str, key: str) -> float:
    """Return the median time of a call by the client, divided by the time of a call by httpx."""
    import httpx

    sys.path.insert(0, str(SOURCE))
    from presage import Presage

    with Presage(url, email, key) as client, httpx.Client(base_url=url) as bare:
        client.usage()
        headers = {"Authorization": f"Bearer {client.transport.credentials.token}"}

        def asked() -> None:
            answer = bare.get("/v2/apiusage", headers=headers)
            assert answer.json()["data"]

        ratios = [seconds_of(client.usage) / seconds_of(asked) for _ in range(ROUNDS)]
    return statistics.median(ratios)


def seconds_of(call: Callable[[], object]) -> float:
    """Return the median time of `call` over several calls, in seconds."""
    found = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        call()
        found.append(time.perf_counter() - begun)
    return statistics.median(found)


def upload_memory(world: World, email: str) -> float:
    """Upload a file of 500 MB; return the peak memory of the uploading process, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.zip"
        with file.open("wb") as stream:
            stream.truncate(MEGABYTES * 1024 * 1024)
        variables = {
            "PRESAGE_URL": world.stack.url,
            "PRESAGE_EMAIL": email,
            "PRESAGE_KEY_FILE": str(world.key_file),
        }
        path, memory = python(UPLOAD, str(file), **variables).split()
    assert path.startswith("presage:upload/"), path
    return float(memory)


def main() -> int:
    """Run the benchmark and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_client")
    parser.add_argument("--only", choices=("import", "size", "call", "upload"))
    only = parser.parse_args().only
    report = Report("The client: what it costs")
    if only in (None, "import"):
        report.add("import presage, by import httpx", import_ratio(), "", ceiling(1.5))
    if only in (None, "size"):
        report.add("files of the package, compressed", packed_size() / 1000, "kB", ceiling(200))
    if only in (None, "call", "upload"):
        with LocalStack() as stack, tempfile.TemporaryDirectory() as folder:
            world = World(stack, Path(folder))
            email = str(world.caller("GOLD").email)
            if only != "upload":
                ratio = call_ratio(stack.url, email, world.private_pem)
                report.add("a call, by a bare call of httpx", ratio, "", ceiling(1.3))
            if only != "call":
                memory = upload_memory(world, email)
                report.add("upload of 500 MB: memory", memory, "MB", ceiling(100))
            world.close()
    return report.finish(ROOT / "build" / "bench" / "client.json")


if __name__ == "__main__":
    sys.exit(main())
