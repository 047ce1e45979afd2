"""Templates are checked by cfn-lint again whenever they change."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.infra.template import lint

GOOD, OTHER = {"data.json": "{}"}, {"data.json": '{"Resources": {}}'}


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The files that cfn-lint has looked at; `bad` in a file is an error."""
    seen: list[str] = []

    def look() -> None:
        content = Path(sys.argv[-1]).read_text()
        seen.append(content)
        sys.exit(2 if "bad" in content else 0)

    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(lint, "PASSED", tmp_path / "build" / "passed")
    monkeypatch.setattr(lint.runner, "main", look)
    return seen


def test_templates_that_passed_are_not_checked_again(checked: list[str]) -> None:
    """Only a change of a template needs another check."""
    lint.check(GOOD)
    lint.check(GOOD)
    lint.check(OTHER)

    assert checked == ["{}", '{"Resources": {}}']


def test_templates_that_failed_are_checked_again(checked: list[str]) -> None:
    """The error is reported at each run, until the template is corrected."""
    for _ in range(2):
        with pytest.raises(SystemExit, match="2"):
            lint.check({"data.json": "bad"})

    assert checked == ["bad", "bad"]


def test_another_version_of_the_checker_checks_again(
    checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update of cfn-lint may know more errors."""
    lint.check(GOOD)
    monkeypatch.setattr(lint.cfnlint.version, "__version__", "0")
    lint.check(GOOD)

    assert checked == ["{}", "{}"]
