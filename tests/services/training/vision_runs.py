"""Helpers for tests of image trainings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.models.model import Model, TrainRequest
from tests.builders import Message, World
from tests.tiny_vision import TinyTraining

COUNTS = {"bike": 6, "car": 6}
REQUEST = TrainRequest(epochs=3)


def current(world: World, model: Model) -> Model:
    """Read a model again."""
    return world.container.models.get(model.account_id, model.model_id)


def artifact(world: World, model: Model) -> bytes | None:
    """Read the served artifact."""
    return world.stores.model_files.artifact(model.model_id, model.version)


def asked(world: World, view: DatasetView, request: TrainRequest = REQUEST) -> tuple[Any, Message]:
    """Request a training; return the model and its message."""
    model = world.train(view, request).model
    [message] = world.messages()
    return model, message


def before_steps(monkeypatch: pytest.MonkeyPatch, act: Callable[[TinyTraining], None]) -> None:
    """Call a function before each step."""
    step = TinyTraining.step

    def stepped(self: TinyTraining) -> Any:
        """Call the function, then step."""
        act(self)
        return step(self)

    monkeypatch.setattr(TinyTraining, "step", stepped)
