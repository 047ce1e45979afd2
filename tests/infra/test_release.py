"""The checks before a release, and the tag."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import presage
import pytest

from chalicelib import __version__
from infra import release
from infra.release import ReleaseCandidate, find_obstacles

CHANGELOG = """# Changelog

## [Unreleased]

## [1.2.3] - 2026-11-23

- Something.

## [1.2.2] - 2026-01-01

- Before.
"""
READY = ReleaseCandidate("1.2.3", "1.2.3", "1.2.3", CHANGELOG, tags=("v1.2.2",))


@pytest.mark.parametrize("changelog", [CHANGELOG, CHANGELOG.replace("## [Unreleased]\n\n", "")])
def test_ready_version_has_no_obstacle(changelog: str) -> None:
    """A clean tree whose changelog and sources name the version can be released on any day."""
    assert list(find_obstacles(replace(READY, changelog=changelog))) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"version": "1.2"}, "'1.2' is not a version"),
        ({"service_version": "1.2.2"}, "chalicelib/__init__.py has version 1.2.2, not 1.2.3"),
        ({"client_version": "1.2.2"}, "_version.py has version 1.2.2, not 1.2.3"),
        ({"tags": ("v1.2.3",)}, "The tag v1.2.3 exists already"),
        ({"changed_files": ("app.py", "x.txt")}, "uncommitted changes: app.py, x.txt"),
        ({"is_on_main": False}, "The commit is not on main"),
        ({"has_identity": False}, "set user.name and user.email"),
        (
            {"changelog": CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- New.\n")},
            "entries under Unreleased: move them to 1.2.3",
        ),
        ({"changelog": CHANGELOG.replace("1.2.3", "1.3.0")}, "has no section 1.2.3"),
        ({"changelog": CHANGELOG.replace("2026-11-23", "soon")}, "has no date for 1.2.3"),
        ({"changelog": CHANGELOG.replace(" - 2026-11-23", "")}, "has no date for 1.2.3"),
        ({"changelog": CHANGELOG.replace("- Something.\n", "")}, "lists no changes for 1.2.3"),
        ({"changelog": ""}, "has no section 1.2.3"),
    ],
)
def test_each_obstacle_is_reported(changes: dict[str, object], expected: str) -> None:
    """Each reason against a release is reported in one sentence."""
    obstacles = list(find_obstacles(replace(READY, **changes)))

    assert any(expected in sentence for sentence in obstacles), obstacles


def test_service_and_client_have_one_version() -> None:
    """The service, the client and the release check read the same version."""
    candidate = release.read_candidate(__version__)

    assert candidate.service_version == candidate.client_version == presage.__version__


@pytest.mark.parametrize("step", ["check", "tag"])
def test_no_tag_is_made_when_there_is_an_obstacle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], step: str
) -> None:
    """Both steps end with a non-zero status, and no tag is made."""
    monkeypatch.setattr(release, "read_candidate", lambda version: replace(READY, tags=("v1.2.3",)))
    monkeypatch.setattr(release, "_git", lambda *arguments: pytest.fail(str(arguments)))

    assert release.main([step, "1.2.3"]) == 1
    assert "The tag v1.2.3 exists already." in capsys.readouterr().err


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a clean clone of a repository with one commit, which is ready for version 1.2.3."""
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(origin))
    (origin / release.CLIENT_FILE).parent.mkdir(parents=True)
    (origin / release.CLIENT_FILE).write_text('__version__ = "1.2.3"\n')
    (origin / "CHANGELOG.md").write_text(CHANGELOG)
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    git(origin, "add", ".")
    git(origin, *identity, "commit", "--quiet", "--message", "Add everything")
    git(tmp_path, "clone", "--quiet", str(origin), str(clone))
    git(clone, "config", "user.name", "A")
    git(clone, "config", "user.email", "a@example.com")
    monkeypatch.setattr(release, "ROOT", clone)
    monkeypatch.setattr(release, "__version__", "1.2.3")
    return clone


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output."""
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def test_clean_clone_is_checked_and_tagged(clone: Path) -> None:
    """In a clean clone the check makes no tag, and the second step makes an annotated one."""
    assert release.main(["check", "1.2.3"]) == 0
    assert git(clone, "tag", "--list") == ""

    assert release.main(["tag", "1.2.3"]) == 0
    assert git(clone, "cat-file", "-t", "v1.2.3").strip() == "tag"
    assert git(clone, "rev-parse", "v1.2.3^{}") == git(clone, "rev-parse", "origin/main")


def test_only_a_published_commit_is_tagged(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A commit that is on the clone's main branch but not on the published one is refused."""
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "Add more")

    assert release.main(["tag", "1.2.3"]) == 1
    assert "The commit is not on main" in capsys.readouterr().err
