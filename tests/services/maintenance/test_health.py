"""The state of engine parts in the health call."""

from __future__ import annotations

import json
import os
from pathlib import Path

from chalicelib.domain.models.model_files import INSTALLED_ONLY, EnginePart
from chalicelib.services.maintenance.health import FACTS_FILES, HealthService

DIGEST = "ab" * 32


class Pool:
    """A pool that has one part loaded."""

    def is_loaded(self, name: str) -> bool:
        """Return whether it is that part."""
        return name == "warm"


class Bucket:
    """A bucket that offers one part, and counts requests."""

    asked = 0

    def offers(self, folder: str) -> bool:
        """Return whether it is that part."""
        self.asked += 1
        return folder == "far"

    def ensure(self, folder: str) -> None:
        """Do nothing."""
        raise AssertionError("Health brings nothing.")


def install(model_dir: Path, name: str, file: str, content: object) -> Path:
    """Write the facts file of a part."""
    folder = model_dir / name
    folder.mkdir(exist_ok=True)
    path = folder / file
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_every_state_is_reported(tmp_path):
    """Parts are loaded, installed, in the bucket or missing; installed ones have digests."""
    for name, file in zip(("cold", "warm", "new"), FACTS_FILES, strict=True):
        install(tmp_path, name, file, {"title": name.upper(), "sha256": DIGEST})
    (tmp_path / "prebuilt").mkdir()
    (tmp_path / ".bringing-x").mkdir()
    bucket = Bucket()

    found = HealthService(tmp_path, bucket, [Pool()], ("cold", "warm", "far", "lost")).parts()

    assert found == [
        EnginePart("cold", "installed", "COLD", DIGEST),
        EnginePart("far", "offered"),
        EnginePart("lost", "missing"),
        EnginePart("new", "installed", "NEW", DIGEST),
        EnginePart("warm", "loaded", "WARM", DIGEST),
    ]
    assert bucket.asked == 2


def test_damaged_facts_are_no_failure(tmp_path):
    """A malformed facts file counts as missing; health still answers."""
    for number, content in enumerate(("", "{", "[]", "{}", '{"sha256": 7', "\x00")):
        install(tmp_path, f"bad{number}", "encoder.json", content)

    found = HealthService(tmp_path, INSTALLED_ONLY, [], ()).parts()

    assert {part.state for part in found} == {"missing"}


def test_facts_are_read_again_when_they_change(tmp_path):
    """A reinstalled part shows its new digest without a restart."""
    health = HealthService(tmp_path, INSTALLED_ONLY, [], ())
    assert health.parts() == []
    path = install(tmp_path, "cold", "engine.json", {"title": "A", "sha256": DIGEST})
    os.utime(path, ns=(1, 1))
    assert health.parts()[0].sha256 == DIGEST

    install(tmp_path, "cold", "engine.json", {"title": "B", "sha256": "cd" * 32})

    assert health.parts() == [EnginePart("cold", "installed", "B", "cd" * 32)]


def test_folder_that_is_not_there(tmp_path):
    """Without a model folder every expected part is missing."""
    found = HealthService(tmp_path / "none", INSTALLED_ONLY, [], ("a",)).parts()

    assert found == [EnginePart("a", "missing")]
