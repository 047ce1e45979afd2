"""Runs the whole suite as two processes at a time, then what measures time alone; one summary.

Run: python -m tests.parts [OPTIONS OF PYTEST]. Tests that start whole stacks mostly wait, so the
others run beside them. Lines are shown as they come, with the name of their part; what a part
says of its failures is shown in one piece at its end. The exit status is 0 when all passed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
STACKS = ("tests/faults", "tests/flows", "tests/policies", "tests/schemathesis")
"""Start whole stacks and wait for them, and what makes both halves equally long."""
TIMED = (
    "tests/formats/test_archive_cost.py",
    "tests/formats/test_jpeg_file.py",
    "tests/local/test_aws.py",
    "tests/local/test_front.py",
)
"""Hold times on the clock that another busy process would lengthen."""
_ENDED_WELL = (0, 5)  # all passed; nothing was selected
_DETAILS = re.compile(r"=+ (ERRORS|FAILURES|warnings summary|short test summary.*|slowest .*) =+")
_TOTALS = re.compile(r"(\d+) (passed|failed|errors?|skipped|deselected|warnings?)\b")


@dataclass
class Part:
    """One run of pytest."""

    name: str
    """Stands before its lines."""
    arguments: Sequence[str]
    """Of pytest."""
    status: int = 0
    """Exit status."""
    last: str = ""
    """Its last line."""
    details: list[str] = field(default_factory=list)
    """What it said of failures."""

    def run(self) -> None:
        """Run, showing its progress and keeping its details."""
        command = [sys.executable, "-m", "pytest", *self.arguments]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert process.stdout is not None
        for line in process.stdout:
            self.last = line.strip() or self.last
            if self.details or _DETAILS.match(line):
                self.details.append(line)
            elif line.strip():
                say(f"{self.name:7}{line}")
        self.status = process.wait()
        if self.details:
            say(f"\n{self.name}:\n{''.join(self.details)}\n")


def say(text: str) -> None:
    """Show text at once; called by several threads, so in one piece."""
    sys.stdout.write(text)
    sys.stdout.flush()


def parts(options: Sequence[str]) -> tuple[list[Part], Part]:
    """Divide the suite: the parts that run together, and the one that runs alone.

    Args:
        options: of pytest, for every part.
    """
    elsewhere = [f"--ignore={path}" for path in (*STACKS, *TIMED)]
    together = [
        Part("stacks", [*STACKS, *options]),
        Part("others", ["tests", *elsewhere, *options]),
    ]
    return together, Part("timed", [*TIMED, *options])


def summary(found: Sequence[Part], seconds: float) -> str:
    """Add up the last lines of all parts."""
    totals: Counter[str] = Counter()
    for part in found:
        for number, kind in _TOTALS.findall(part.last):
            totals[kind.rstrip("s") if kind != "passed" else kind] += int(number)
    counted = ", ".join(f"{number:,} {kind}" for kind, number in sorted(totals.items()))
    bad = [f"{p.name} ended with {p.status}" for p in found if p.status not in _ENDED_WELL]
    verdict = "; ".join([counted or "nothing ran", *bad])
    return f"{verdict} in {seconds // 60:.0f}:{seconds % 60:02.0f}"


def main(options: Sequence[str]) -> int:
    """Run everything; returns the exit status."""
    started = time.monotonic()
    together, alone = parts(options)
    with ThreadPoolExecutor(len(together)) as threads:
        for _ in threads.map(Part.run, together):
            pass
    alone.run()
    found = [*together, alone]
    say(f"{summary(found, time.monotonic() - started)}\n")
    return max(part.status not in _ENDED_WELL for part in found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
