"""Runs the whole suite in parts, some at the same time, then the timed part alone.

Run: python -m tests.parts [--check] [--fast] [OPTIONS OF PYTEST]. A free thread takes the next
part. Tests of whole stacks often wait, so three parts keep two processors busy. Lines are shown as
they come, with the name of their part; the failures of a part are shown together at its end. A
summary follows, and the exit status is 0 when all passed.

`--check` runs `make check` as one more part, while tests of stacks wait. `--fast` runs only the
tests that need neither the emulator nor model files; tests/conftest.py finds out which.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Stacks wait for timers and for each other, so three parts use two processors.
PARTS_AT_ONCE = 3
# With four, the last two parts of the fast tests end together.
FAST_PARTS_AT_ONCE = 4
DIVISION = {
    "flows": ("tests/flows",),
    "kills": ("tests/flows/kills",),
    "calls": ("tests/bad_input", "tests/spec", "tests/schemathesis"),
    "service": ("tests/services", "tests/stores"),
    "others": ("tests",),
    "engines": ("tests/engines",),
    "infra": ("tests/infra", "tests/emulators"),
    "faults": ("tests/faults", "tests/policies"),
    "local": ("tests/local",),
}
"""Folders by part, the longest parts first; `others` has all tests that are in no other part. The
tests of `calls` share one stack."""
FAST_DIVISION = {
    "formats": ("tests/formats",),
    "others": ("tests",),
    "ocr": ("tests/engines/ocr",),
    "engines": ("tests/engines",),
    "infra": ("tests/infra",),
}
"""The same for the fast tests; the rest is second, because it takes long."""
PYTEST = (sys.executable, "-m", "pytest")
CHECK = ("make", "--no-print-directory", "check")
TIMED = (
    "tests/client/test_cost.py",
    "tests/formats/pictures/test_jpeg_file.py",
    "tests/local/aws/test_server.py",
    "tests/local/http/test_front.py",
    "tests/local/test_ingest_speed.py",
    "tests/local/test_stop.py",
    "tests/local/test_worker.py",
    "tests/stores/examples/test_pictures.py",
    "tests/stores/fetching/test_downloads.py",
    "tests/test_import_time.py",
)
"""Files that assert wall time, which another busy process would lengthen; they run alone."""
ENVIRONMENT = {
    "PRESAGE_NICENESS": "0",  # workers of lower priority would wait for all the other tests
    "OPENBLAS_NUM_THREADS": "1",  # more threads than processors wait for each other actively
    "PYTHONDONTWRITEBYTECODE": "",  # hundreds of interpreters start; each would compile again
}
"""Variables that differ from the environment of this command."""
_ENDED_WELL = (0, 5)  # all passed; nothing was selected
_DETAILS = re.compile(r"=+ (ERRORS|FAILURES|warnings summary|short test summary.*|slowest .*) =+")
_FAILED = re.compile(r"(?:FAILED|ERROR) \S+::\S+")
_TOTALS = re.compile(r"(\d+) (passed|failed|errors?|skipped|deselected|warnings?)\b")


@dataclass
class Part:
    """One run of pytest or of another program."""

    name: str
    """Printed before its lines."""
    arguments: Sequence[str]
    """Of the program."""
    status: int = 0
    """Exit status."""
    last: str = ""
    """Its last line."""
    details: list[str] = field(default_factory=list)
    """What it printed about failures."""
    program: Sequence[str] = PYTEST

    def run(self) -> None:
        """Run the part, show its progress and store its output."""
        started = time.monotonic()
        with subprocess.Popen(
            [*self.program, *self.arguments],
            cwd=ROOT,
            env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            for line in process.stdout or ():
                self.last = line.strip() or self.last
                if self.details or _DETAILS.match(line):
                    self.details.append(line)
                elif line.strip():
                    say(f"{self.name:8}{line}")
        self.status = process.returncode
        say(f"{self.name:8}took {clock(time.monotonic() - started)}\n")
        if self.details:
            say(f"\n{self.name}:\n{''.join(self.details)}\n")


def say(text: str) -> None:
    """Write text in one call, because several threads write."""
    sys.stdout.write(text)
    sys.stdout.flush()


def parts(options: Sequence[str]) -> tuple[list[Part], Part]:
    """Divide the suite into the parts that run at the same time and the one that runs alone.

    Args:
        options: of this command.
    """
    of_pytest = [option for option in options if option != "--check"]
    division = FAST_DIVISION if "--fast" in options else DIVISION
    queue = [
        Part(name, [*paths, *_left_out(paths, division), *of_pytest])
        for name, paths in division.items()
    ]
    if "--check" in options:
        queue.insert(1, Part("check", [], program=CHECK))
    return queue, Part("timed", [*TIMED, *of_pytest])


def _left_out(paths: Sequence[str], division: Mapping[str, Sequence[str]]) -> list[str]:
    """Return pytest options that exclude the files of other parts."""
    elsewhere = [path for chosen in (*division.values(), TIMED) for path in chosen]
    return [
        f"--ignore={path}"
        for path in elsewhere
        if path not in paths and any(Path(path).is_relative_to(folder) for folder in paths)
    ]


def has_passed(part: Part) -> bool:
    """Return whether a part that ran has no failure."""
    return part.status in _ENDED_WELL


def summary(found: Sequence[Part], seconds: float) -> str:
    """Return the failed tests, and the sum of the last lines of all parts."""
    totals: Counter[str] = Counter()
    for part in found:
        for number, kind in _TOTALS.findall(part.last):
            totals[kind.rstrip("s") if kind != "passed" else kind] += int(number)
    counted = ", ".join(f"{number:,} {kind}" for kind, number in sorted(totals.items()))
    bad = [f"{p.name} ended with {p.status}" for p in found if not has_passed(p)]
    verdict = "; ".join([counted or "nothing ran", *bad])
    failed = [line.strip() for part in found for line in part.details if _FAILED.match(line)]
    return "\n".join([*failed, f"{verdict} in {clock(seconds)}"])


def clock(seconds: float) -> str:
    """Format a duration as minutes:seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def main(options: Sequence[str]) -> int:
    """Run everything; return the exit status."""
    started = time.monotonic()
    queue, alone = parts(options)
    at_once = FAST_PARTS_AT_ONCE if "--fast" in options else PARTS_AT_ONCE
    with ThreadPoolExecutor(at_once) as threads:
        for _ in threads.map(Part.run, queue):
            pass
    alone.run()
    found = [*queue, alone]
    say(f"{summary(found, time.monotonic() - started)}\n")
    return int(not all(has_passed(part) for part in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
