"""Objects in the bucket."""

from __future__ import annotations

import io
import tempfile
from typing import Any

import pytest

from chalicelib.errors import StorageUnavailable
from chalicelib.stores.aws import objects as artifacts_module
from tests.builders import World
from tests.held import held


def test_missing_object(world: World) -> None:
    """Reading a missing object is not an error."""
    artifacts = world.stores.artifacts

    assert artifacts.get("nothing") is None
    assert artifacts.get_json("nothing") is None
    assert artifacts.get_file("nothing", io.BytesIO()) is False
    artifacts.delete("nothing")
    artifacts.delete_prefix("nothing/")


def test_part_of_an_object(world: World) -> None:
    """A range is read without the rest; it is shorter at the end, and empty beyond it."""
    artifacts = world.stores.artifacts
    artifacts.put("a", bytes(range(10)))

    assert artifacts.get_range("a", 3, 4) == bytes([3, 4, 5, 6])
    assert artifacts.get_range("a", 8, 100) == bytes([8, 9])
    assert artifacts.get_range("nothing", 0, 4) is None


def test_file_there_and_back(world: World) -> None:
    """A file is written from its present position, stays open, and is read back unchanged."""
    content = bytes(range(256)) * 8_000
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        world.stores.artifacts.put_file("a/file", file)
        assert not file.closed

    target = io.BytesIO()

    assert world.stores.artifacts.get_file("a/file", target)
    assert content == target.getvalue()


def test_long_file_there_and_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long file is stored in several objects without leftovers, and all of them are deleted."""
    monkeypatch.setattr(artifacts_module, "PIECE_BYTES", 1_000)
    artifacts = world.stores.artifacts
    for size in (5_300, 2_000):
        content = bytes(range(256)) * 30
        artifacts.put_file("a/file", io.BytesIO(content[:size]))
        target = io.BytesIO()
        assert artifacts.get_file("a/file", target)
        assert target.getvalue() == content[:size]
        assert len(world.objects()) == -(-size // 1_000)

    artifacts.put("a/file-2", b"")
    artifacts.delete_file("a/file")

    assert world.objects() == ["a/file-2"]


def test_long_file_stops_when_the_check_raises(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading a long file calls the check before each of its objects."""
    monkeypatch.setattr(artifacts_module, "PIECE_BYTES", 1_000)
    checks = iter([None, None])

    with pytest.raises(StopIteration):
        world.stores.artifacts.put_file("a/file", io.BytesIO(bytes(9_000)), lambda: next(checks))

    assert len(world.objects()) == 2


def test_delete_prefix_beyond_one_page(world: World) -> None:
    """Objects on all pages of a listing are deleted, and no others."""
    bucket = held("s3")
    for number in range(1_003):
        bucket.put_object(world.settings.bucket, f"datasets/1/{number}", b"")
    world.stores.artifacts.put("datasets/10/kept", b"")

    world.stores.artifacts.delete_prefix("datasets/1/")

    assert world.objects() == ["datasets/10/kept"]


def test_failed_deletions_are_errors(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion that fails for some objects raises an error."""
    world.stores.artifacts.put("datasets/1/a", b"")

    def refuse(**request: Any) -> dict[str, Any]:
        """Answer as S3 does when a key could not be deleted."""
        key = request["Delete"]["Objects"][0]["Key"]
        return {"Errors": [{"Key": key, "Code": "InternalError"}]}

    monkeypatch.setattr(world.stores.clients.s3, "delete_objects", refuse)

    with pytest.raises(StorageUnavailable):
        world.stores.artifacts.delete_prefix("datasets/1/")


@pytest.mark.parametrize("size", [0, 999, 5_242_880, 11_000_000])
def test_a_whole_object_of_any_length(
    world: World, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """A multipart upload gives one object, which appears when it is complete."""
    monkeypatch.setattr(artifacts_module, "PIECE_BYTES", 5_242_880)
    artifacts, content = world.stores.artifacts, bytes(range(256)) * 43_000
    checks: list[int] = []
    artifacts.put_object(
        "a", io.BytesIO(content[:size]), lambda: checks.append(len(world.objects("a")))
    )

    assert artifacts.get("a") == content[:size]
    assert checks == [0] * (-(-size // 5_242_880) if size >= 5_242_880 else 0)
