"""A service on an empty AWS, whose workers run when a test says so."""

from __future__ import annotations

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.dataset import DatasetView
from tests.builders import World, empty_aws
from tests.conftest import MovableClock
from tests.pictures import label_folders
from tests.services.training.vision_runs import COUNTS
from tests.tiny_vision import TinyVision, install


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock) -> World:
    """The service."""
    empty_aws(settings)
    return World(settings, clock)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> TinyVision:
    """The test double of the vision engines."""
    return install(monkeypatch)


@pytest.fixture
def album(world: World, tiny: TinyVision) -> DatasetView:
    """An image dataset whose features are not computed yet."""

    def upload() -> DatasetView:
        made = world.pictures(label_folders(COUNTS))
        world.messages()
        return made

    return world.once("album", upload)
