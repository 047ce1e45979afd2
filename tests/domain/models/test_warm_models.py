"""The memory of loaded models."""

from __future__ import annotations

from chalicelib.domain.models.warm_models import WarmModels


def test_least_recently_used_goes_first() -> None:
    """A recently used model stays cached; the least recently used one is read again."""
    read: list[str] = []
    warm: WarmModels[str] = WarmModels(2)

    def get(name: str) -> str:
        return warm.get((name, "1"), lambda: read.append(name) or name)

    for name in ("a", "b", "a", "c", "a", "b"):
        assert get(name) == name
    assert read == ["a", "b", "c", "b"]


def test_memory_is_bounded() -> None:
    """Models go when they are too large together, however few; the last one always stays."""
    read: list[str] = []
    warm: WarmModels[str] = WarmModels(10, most_bytes=5, bytes_of=len)

    def get(name: str) -> str:
        return warm.get((name, "1"), lambda: read.append(name) or name)

    for name in ("aa", "bb", "aa", "cc", "bb", "enormous", "enormous", "cc"):
        assert get(name) == name
    assert read == ["aa", "bb", "cc", "bb", "enormous", "cc"]
