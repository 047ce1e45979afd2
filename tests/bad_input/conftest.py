"""The running stack, and the check that a refused call has changed nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.live import Caller, Live, shared


@pytest.fixture(scope="session")
def live(request: pytest.FixtureRequest) -> Live:
    """The running stack that all tests over HTTP share."""
    return shared(request.config)


@pytest.fixture(scope="session")
def maker(live: Live) -> Caller:
    """An account that may be left with strange datasets."""
    return live.caller("maker")


def belongings(live: Live) -> tuple[Any, ...]:
    """List the owner's datasets with counts, and models."""
    owner, shop = live.owner, live.shop["id"]
    return (
        owner.get("/v2/language/datasets").ok(),
        owner.get("/v2/vision/datasets").ok(),
        owner.get(f"/v2/language/datasets/{shop}/models").ok(),
    )


@pytest.fixture(scope="session")
def property_at_first(live: Live) -> tuple[Any, ...]:
    """The owner's data before the first bad call."""
    assert live.model_id
    assert live.pictures
    return belongings(live)


@pytest.fixture(scope="module")
def victim(live: Live, property_at_first: tuple[Any, ...]) -> Iterator[Caller]:
    """The owner, whose datasets and models must be unchanged after a file's bad calls."""
    yield live.owner
    assert belongings(live) == property_at_first


@pytest.fixture(scope="module")
def painter(live: Live) -> Iterator[Caller]:
    """The account of the shared images, which must be unchanged after a file's bad calls."""
    studio = live.studio
    assert studio.signs
    assert studio.scenes
    before = studio.belongings()
    yield studio.caller
    assert studio.belongings() == before
