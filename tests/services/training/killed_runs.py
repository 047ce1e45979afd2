"""Kills workers during a training, import or adjustment."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import World


def interrupt(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the workers until the run has written its version but not its row, and kill them."""

    class Killed(BaseException):
        pass

    def kill(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(world.stores.model_leases, "succeed", kill)
        with pytest.raises(Killed):
            world.work()
