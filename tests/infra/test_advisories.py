"""The advisory report never treats a missing answer as a clean one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra import advisories
from infra.advisories import ADVISORIES, CLEAN, NOT_ASKED, Verdict, verdict


def answer(**package: object) -> str:
    """Write an answer of pip-audit about one package."""
    return json.dumps({"dependencies": [{"name": "pillow", "version": "1.0", **package}]})


def test_nothing_is_known() -> None:
    """A complete answer without advisories is clean."""
    assert verdict(answer(vulns=[]), "") == Verdict(CLEAN, ("1 packages, no advisory known",))


def test_advisories_are_named() -> None:
    """The package, the advisory and the version that fixes it are reported."""
    known = [{"id": "CVE-1", "fix_versions": ["1.1", "2.0"]}, {"id": "CVE-2", "fix_versions": []}]

    assert verdict(answer(vulns=known), "") == Verdict(
        ADVISORIES,
        (
            "pillow 1.0: CVE-1 (fixed in 1.1, 2.0)",
            "pillow 1.0: CVE-2 (fixed in no version yet)",
        ),
    )


@pytest.mark.parametrize("output", ["", "not JSON", "[]", "{}"])
def test_an_index_that_cannot_be_asked(output: str) -> None:
    """If the index does not answer, the report says so with the reason."""
    said = verdict(output, "WARNING: first\nERROR: connection refused\n")

    assert said.status == NOT_ASKED
    assert "nothing was checked: ERROR: connection refused" in said.lines[0]


def test_a_package_that_was_skipped() -> None:
    """A package that the index lacks is not reported as clean."""
    checked = {"name": "numpy", "version": "2.0", "vulns": []}
    skipped = {"name": "pillow", "skip_reason": "not found"}

    some = verdict(json.dumps({"dependencies": [checked, skipped]}), "")
    none = verdict(json.dumps({"dependencies": [skipped]}), "")

    assert some == Verdict(NOT_ASKED, ("pillow was not checked: not found",))
    assert none == Verdict(NOT_ASKED, ("The database has none of these packages: not found",))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((CLEAN, CLEAN), CLEAN),
        ((CLEAN, NOT_ASKED), NOT_ASKED),
        ((ADVISORIES, NOT_ASKED), ADVISORIES),
    ],
)
def test_the_worst_lock_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, statuses: tuple[int, ...], expected: int
) -> None:
    """The result is the worst of all lock files."""
    for number, _ in enumerate(statuses):
        (tmp_path / f"{number}.txt").touch()
    monkeypatch.setattr(advisories, "LOCKS", tmp_path)
    monkeypatch.setattr(advisories, "ask", lambda lock: Verdict(statuses[int(lock.stem)], ()))

    assert advisories.main() == expected
