"""What speaks against a release."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from infra import release
from infra.release import ReleaseCandidate, objections

TODAY = date(2026, 11, 23)
CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.3] - 2026-11-23

- Something.

## [1.2.2] - 2026-01-01

- Before.
"""
READY = ReleaseCandidate("1.2.3", "1.2.3", CHANGELOG, (), ("v1.2.2",))


@pytest.mark.parametrize("changelog", [CHANGELOG, CHANGELOG.replace("## [Unreleased]\n\n", "")])
def test_nothing_speaks_against_it(changelog: str) -> None:
    """A clean tree whose changelog and source name the version is released."""
    assert list(objections(replace(READY, changelog=changelog), TODAY)) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": "1.2"}, "'1.2' is no version"),
        ({"source_version": "1.2.2"}, "__init__.py says 1.2.2, not 1.2.3"),
        ({"tags": ("v1.2.3",)}, "The tag v1.2.3 exists already"),
        ({"changed_files": ("app.py", "x.txt")}, "uncommitted changes: app.py, x.txt"),
        (
            {"changelog": CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- New.\n")},
            "entries below Unreleased: move them to 1.2.3",
        ),
        ({"changelog": CHANGELOG.replace("1.2.3", "1.3.0")}, "has no section 1.2.3"),
        (
            {"changelog": CHANGELOG.replace("2026-11-23", "2026-11-22")},
            "dates 1.2.3 2026-11-22, but today is 2026-11-23",
        ),
        ({"changelog": CHANGELOG.replace(" - 2026-11-23", "")}, "dates 1.2.3 None"),
        ({"changelog": CHANGELOG.replace("- Something.\n", "")}, "says nothing of 1.2.3"),
        ({"changelog": ""}, "has no section 1.2.3"),
    ],
)
def test_each_objection_is_told(changes: dict[str, object], said: str) -> None:
    """Whatever is not ready is told in a sentence."""
    told = list(objections(replace(READY, **changes), TODAY))

    assert any(said in sentence for sentence in told), told


@pytest.mark.parametrize("step", ["check", "tag"])
def test_nothing_is_tagged_against_an_objection(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    """Both steps end non-zero, and no tag is made."""
    monkeypatch.setattr(release, "release_of", lambda version: replace(READY, tags=("v1.2.3",)))
    monkeypatch.setattr(release, "_git", lambda *arguments: pytest.fail(str(arguments)))

    assert release.main([step, "1.2.3"]) == 1
    assert "The tag v1.2.3 exists already." in capsys.readouterr().err


def test_the_commit_is_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second step makes an annotated tag; the first makes none."""
    calls: list[tuple[str, ...]] = []
    text = CHANGELOG.replace("2026-11-23", date.today().isoformat())
    monkeypatch.setattr(release, "release_of", lambda version: replace(READY, changelog=text))
    monkeypatch.setattr(release, "_git", lambda *arguments: calls.append(arguments))

    assert release.main(["check", "1.2.3"]) == 0
    assert calls == []
    assert release.main(["tag", "1.2.3"]) == 0
    assert calls == [("tag", "--annotate", "--message", "Presage 1.2.3", "v1.2.3")]
