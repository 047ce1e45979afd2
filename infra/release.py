"""The command `python -m infra.release`: checks that a version can be released, then tags it.

`make release VERSION=x.y.z` runs every test between the two steps:

    python -m infra.release check VERSION
    python -m infra.release tag VERSION

Exit status: 0 when done, 1 when the version cannot be released; each reason is one line.
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
SERVICE_FILE = "chalicelib/__init__.py"
CLIENT_FILE = "client/src/presage/_version.py"
_BRANCH = "main"
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_CLIENT_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)
_HEADING = re.compile(r"^## \[(?P<name>[^]]+)](?: - (?P<day>\S+))?[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class ReleaseCandidate:
    """The facts that decide whether a version can be released."""

    version: str
    """The version to release."""
    service_version: str
    """The version in the service's source."""
    client_version: str
    """The version in the client's source."""
    changelog: str
    """The text of CHANGELOG.md."""
    changed_files: Sequence[str] = ()
    """Files with changes that are not committed."""
    tags: Sequence[str] = ()
    """Existing tags."""
    is_on_main: bool = True
    """Whether the commit is part of the main branch."""
    has_identity: bool = True
    """Whether git knows a name and e-mail address for the tag."""


def tag_of(version: str) -> str:
    """Return the name of a version's tag."""
    return f"v{version}"


def find_obstacles(candidate: ReleaseCandidate) -> Iterator[str]:
    """Yield each reason, as a sentence, why a version cannot be released."""
    version = candidate.version
    if not _VERSION.fullmatch(version):
        yield f"{version!r} is not a version: write three numbers, such as 1.2.3."
    # Service and client are released together, so one number has to be right for both.
    if candidate.service_version != version:
        yield f"{SERVICE_FILE} has version {candidate.service_version}, not {version}."
    if candidate.client_version != version:
        yield f"{CLIENT_FILE} has version {candidate.client_version}, not {version}."
    if tag_of(version) in candidate.tags:
        yield f"The tag {tag_of(version)} exists already."
    if candidate.changed_files:
        yield f"The tree has uncommitted changes: {', '.join(candidate.changed_files)}."
    # If the tag were on another commit, a rebase or squash could replace the change that it names.
    if not candidate.is_on_main:
        yield f"The commit is not on {_BRANCH}: merge it first, then release from {_BRANCH}."
    # Checked before, because git would refuse the tag only after all tests have run.
    if not candidate.has_identity:
        yield "git has no name for the tag: set user.name and user.email with git config."
    yield from _find_changelog_obstacles(candidate.changelog, version)


def _find_changelog_obstacles(changelog: str, version: str) -> Iterator[str]:
    headings = list(_HEADING.finditer(changelog))
    ends = [*(heading.start() for heading in headings[1:]), len(changelog)]
    sections = {
        heading["name"]: (heading["day"], changelog[heading.end() : end].strip())
        for heading, end in zip(headings, ends, strict=False)
    }
    if sections.get("Unreleased", (None, ""))[1]:
        yield f"CHANGELOG.md has entries under Unreleased: move them to {version}."
    if version not in sections:
        yield f"CHANGELOG.md has no section {version}."
        return
    day, content = sections[version]
    # Any date is accepted, because the section is written days before the tag.
    if not _is_date(day):
        yield f"CHANGELOG.md has no date for {version}: write ## [{version}] - YYYY-MM-DD."
    if not content:
        yield f"CHANGELOG.md lists no changes for {version}."


def _is_date(text: str | None) -> bool:
    try:
        return bool(text and date.fromisoformat(text))
    except ValueError:
        return False


def _git(*arguments: str) -> list[str]:
    output = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return output.stdout.splitlines()


def read_candidate(version: str) -> ReleaseCandidate:
    """Read the facts about a version from the tree that holds this file."""
    client = _CLIENT_VERSION.search((ROOT / CLIENT_FILE).read_text(encoding="utf-8"))
    return ReleaseCandidate(
        version=version,
        service_version=__version__,
        client_version=client[1] if client else "none",
        changelog=(ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        changed_files=[line[3:] for line in _git("status", "--porcelain")],
        tags=_git("tag", "--list"),
        is_on_main=_is_on_main(),
        has_identity=_has_identity(),
    )


def _is_on_main() -> bool:
    """Return whether the published (or, without one, the local) branch main has this commit."""
    branches = _git("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes")
    containing = _git("for-each-ref", "--format=%(refname)", "--contains", "HEAD")
    published = [name for name in branches if re.fullmatch(f"refs/remotes/[^/]+/{_BRANCH}", name)]
    return any(name in containing for name in published or [f"refs/heads/{_BRANCH}"])


def _has_identity() -> bool:
    try:
        _git("var", "GIT_COMMITTER_IDENT")
    except subprocess.CalledProcessError:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.release",
        description="Check that a version can be released, or tag the commit with it.",
    )
    parser.add_argument("step", choices=("check", "tag"))
    parser.add_argument("version", help="three numbers, such as 1.2.3")
    options = parser.parse_args(arguments)
    obstacles = list(find_obstacles(read_candidate(options.version)))
    for obstacle in obstacles:
        print(obstacle, file=sys.stderr)
    if obstacles:
        return 1
    if options.step == "tag":
        tag = tag_of(options.version)
        _git("tag", "--annotate", "--message", f"Presage {options.version}", tag)
        print(f"Tagged {tag}. Publish it: git push origin {tag}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
