"""Releases a version: checks tree, changelog and source, then tags the commit.

Run: make release VERSION=x.y.z, which also runs every test between the two steps below.

    python -m infra.release check VERSION
    python -m infra.release tag VERSION

Exit status: 0 when done, 1 when something speaks against it; each such thing is one line.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from chalicelib import __version__

ROOT = Path(__file__).parents[1]
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_HEADING = re.compile(r"^## \[(?P<name>[^]]+)](?: - (?P<day>\S+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class ReleaseCandidate:
    """What is about to be released."""

    version: str
    """As it was asked for."""
    source_version: str
    """As the source names itself."""
    changelog: str
    """Text of CHANGELOG.md."""
    changed_files: Sequence[str]
    """Files of the tree that are not committed."""
    tags: Sequence[str]
    """Tags that exist."""


def tag_of(version: str) -> str:
    """Return the name of a version's tag."""
    return f"v{version}"


def objections(candidate: ReleaseCandidate, today: date) -> Iterator[str]:
    """Yield what speaks against a release, a sentence each.

    Args:
        candidate: the release.
        today: the day that the changelog must name.
    """
    version = candidate.version
    if not _VERSION.fullmatch(version):
        yield f"{version!r} is no version: write three numbers, such as 1.2.3."
    if candidate.source_version != version:
        yield f"chalicelib/__init__.py says {candidate.source_version}, not {version}."
    if tag_of(version) in candidate.tags:
        yield f"The tag {tag_of(version)} exists already."
    if candidate.changed_files:
        yield f"The tree has uncommitted changes: {', '.join(candidate.changed_files)}."
    yield from _changelog_objections(candidate.changelog, version, today)


def _changelog_objections(changelog: str, version: str, today: date) -> Iterator[str]:
    headings = list(_HEADING.finditer(changelog))
    ends = [*(heading.start() for heading in headings[1:]), len(changelog)]
    contents = {
        heading["name"]: (heading["day"], changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=False)
    }
    if contents.get("Unreleased", (None, ""))[1]:
        yield f"CHANGELOG.md has entries below Unreleased: move them to {version}."
    if version not in contents:
        yield f"CHANGELOG.md has no section {version}."
        return
    day, content = contents[version]
    if day != today.isoformat():
        yield f"CHANGELOG.md dates {version} {day}, but today is {today.isoformat()}."
    if not content:
        yield f"CHANGELOG.md says nothing of {version}."


def _git(*arguments: str) -> list[str]:
    answer = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return answer.stdout.splitlines()


def release_of(version: str) -> ReleaseCandidate:
    """Describe the release of a version from the tree that this file is in."""
    return ReleaseCandidate(
        version=version,
        source_version=__version__,
        changelog=(ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        changed_files=[line[3:] for line in _git("status", "--porcelain")],
        tags=_git("tag", "--list"),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or tag; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m infra.release", description=__doc__)
    parser.add_argument("step", choices=("check", "tag"))
    parser.add_argument("version")
    options = parser.parse_args(arguments)
    # The day of the machine that releases: whoever writes the changelog writes that day.
    found = list(objections(release_of(options.version), date.today()))
    for objection in found:
        print(objection, file=sys.stderr)
    if found:
        return 1
    if options.step == "tag":
        tag = tag_of(options.version)
        _git("tag", "--annotate", "--message", f"Presage {options.version}", tag)
        print(f"Tagged {tag}. Publish it: git push origin {tag}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
