"""Looks up known vulnerabilities of all packages in the lock files.

`make audit` runs it; tests do not, because it needs a network. Exit status: 0 if no
vulnerability is known, 1 if at least one is known, 3 if the index could not be reached.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOCKS = Path(__file__).parent / "packaging" / "locks"
CLEAN, ADVISORIES, NOT_ASKED = 0, 1, 3


@dataclass(frozen=True)
class Verdict:
    """The result of a look-up of vulnerabilities."""

    status: int
    """Exit status."""
    lines: Sequence[str]
    """Lines to print."""


def verdict(output: str, errors: str) -> Verdict:
    """Interpret the output of pip-audit.

    Args:
        output: standard output of pip-audit; JSON unless it failed.
        errors: standard error of pip-audit.
    """
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        why = errors.strip().splitlines() or ["pip-audit printed nothing"]
        return Verdict(
            NOT_ASKED,
            (f"No advisory database could be reached, so nothing was checked: {why[-1]}",),
        )
    known = [
        f"{package['name']} {package['version']}: {advisory['id']}"
        f" (fixed in {', '.join(advisory['fix_versions']) or 'no version yet'})"
        for package in packages
        for advisory in package.get("vulns", ())
    ]
    skipped = tuple(
        f"{package['name']} was not checked: {package['skip_reason']}"
        for package in packages
        if "skip_reason" in package
    )
    if known:
        return Verdict(ADVISORIES, (*known, *skipped))
    if packages and len(skipped) == len(packages):
        why = packages[0]["skip_reason"]
        return Verdict(NOT_ASKED, (f"The database has none of these packages: {why}",))
    if skipped:
        return Verdict(NOT_ASKED, skipped)
    return Verdict(CLEAN, (f"{len(packages)} packages, no advisory known",))


def ask(lock: Path) -> Verdict:
    """Look up known vulnerabilities of the packages in one lock file, at the pinned versions."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
    answer = subprocess.run(
        [*command, "--disable-pip", "--require-hashes", "--requirement", str(lock)],
        capture_output=True,
        text=True,
        check=False,
    )
    return verdict(answer.stdout, answer.stderr)


def main() -> int:
    """Look up the packages of each lock file, and return the exit status."""
    found = {lock.name: ask(lock) for lock in sorted(LOCKS.glob("*.txt"))}
    for name, said in found.items():
        for line in said.lines:
            print(f"{name}: {line}")
    statuses = {said.status for said in found.values()}
    return ADVISORIES if ADVISORIES in statuses else max(statuses, default=NOT_ASKED)


if __name__ == "__main__":
    sys.exit(main())
