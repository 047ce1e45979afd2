"""A package is reused while its sources are unchanged, and rebuilt after any change."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import build as command
from infra.build import Plan, build
from infra.packaging.sources import fingerprint
from tests.infra.tiny_package import tiny_plan, write


@pytest.fixture
def plan(tmp_path: Path, quick: None) -> Plan:
    """A plan for a tiny package."""
    return tiny_plan(tmp_path)


@pytest.fixture
def run(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    """Runs the command on the tiny project; counts how often it has built."""
    built = []

    def counted(found: Plan, progress):
        """Build and count."""
        built.append(found)
        return build(found, progress)

    monkeypatch.setattr(command, "Plan", lambda *args, **kwargs: plan)
    monkeypatch.setattr(command, "build", counted)

    def call(*options: str) -> int:
        """Run it once."""
        assert command.main([*options]) == 0
        return len(built)

    return call


def test_same_tree_is_not_built_again(run, plan: Plan, capsys: pytest.CaptureFixture[str]):
    """Asked to build only what changed, the command keeps a package of the same tree."""
    assert run("--if-changed") == 1
    assert run("--if-changed") == 1
    assert f"{plan.folder} is of this tree" in capsys.readouterr().err
    assert run() == 2


def test_every_change_is_seen(run, plan: Plan):
    """Another line of code, another package and a damaged zip are each built again."""
    assert run("--if-changed") == 1
    write(plan.project, {"chalicelib/more.py": "MORE = 1\n"})
    assert run("--if-changed") == 2
    (plan.folder / "deployment.zip").write_bytes(b"damaged")
    assert run("--if-changed") == 3
    (plan.folder / "sources.json").unlink()
    assert run("--if-changed") == 4


def test_fingerprint_knows_names_contents_and_options(tmp_path: Path):
    """The fingerprint depends on names, contents and options, not on local byte code."""
    folder = tmp_path / "chalicelib"
    folder.mkdir()
    (folder / "a.py").write_text("A = 1\n")
    seen = {fingerprint(tmp_path), fingerprint(tmp_path, "arm64")}
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_bytes(b"code")
    assert fingerprint(tmp_path) in seen
    (folder / "a.py").rename(folder / "b.py")
    seen.add(fingerprint(tmp_path))
    (folder / "b.py").write_text("A = 2\n")
    seen.add(fingerprint(tmp_path))
    (tmp_path / "app.py").write_text("")
    seen.add(fingerprint(tmp_path))

    assert len(seen) == 5


def test_another_python_builds_again(plan: Plan, monkeypatch: pytest.MonkeyPatch):
    """The byte code is that of the Python which builds, so its version decides as well."""
    before = plan.fingerprint()
    assert plan.fingerprint() == before
    monkeypatch.setattr(command.platform, "python_version", lambda: "3.99.0")

    assert plan.fingerprint() != before
