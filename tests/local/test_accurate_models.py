"""Installing the large encoders while the stack runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from chalicelib.config import Settings
from infra.local import accurate_models
from infra.local.environment import ROOT
from infra.models import ACCURATE, InstallError


@pytest.fixture
def world(monkeypatch, tmp_path):
    """Settings of an empty model folder; notes of what was done."""
    done = []
    monkeypatch.setattr(accurate_models.os, "nice", lambda by: done.append(("nice", by)))
    monkeypatch.setattr(accurate_models.signal, "signal", lambda *_: None)
    monkeypatch.setattr(
        accurate_models, "install", lambda folder, names: done.append((folder, names))
    )
    return Settings(model_dir=str(tmp_path)), done


def test_missing_encoders_are_installed_politely(world, tmp_path):
    """Missing encoders are installed at low priority, with a line at the start and the end."""
    settings, done = world
    said = []

    accurate_models.run(settings, said.append)

    assert done == [("nice", 15), (tmp_path, list(ACCURATE))]
    assert len(said) == 2
    assert "mpnet and e5" in said[0]
    assert said[0].endswith("downloads 500 MB")
    assert "from now on" in said[1]


def test_nothing_to_do_is_said_by_nothing(world, monkeypatch):
    """With the fast profile, or with encoders installed, nothing is installed or printed."""
    settings, done = world
    said = []

    accurate_models.run(Settings(model_dir=settings.model_dir, text_profile="fast"), said.append)
    monkeypatch.setattr(accurate_models, "missing", lambda folder, names: [])
    accurate_models.run(settings, said.append)

    assert (done, said) == ([], [])


def test_trouble_is_one_line(world, monkeypatch):
    """Without a network the stack runs on, and one line says which encoders trainings use."""
    settings, _ = world
    said = []

    def fail(folder, names):
        raise InstallError("pip could not download it.")

    monkeypatch.setattr(accurate_models, "install", fail)
    accurate_models.run(settings, said.append)

    assert said[1:] == [
        "the accurate profile is not installed, trainings use the fast one: "
        "pip could not download it."
    ]


def test_stop_ends_the_download_too(tmp_path):
    """SIGTERM stops the installation and its download processes."""
    code = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
from infra.local import accurate_models
from chalicelib.config import Settings
def install(folder, names):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    finally:
        (folder / "ended").touch()
accurate_models.install = install
accurate_models.run(Settings(model_dir={str(tmp_path)!r}), print)
"""

    ended = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)

    assert ended.returncode == 1
    assert Path(tmp_path / "ended").exists()
