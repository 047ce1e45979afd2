"""The installed networks and engines with the services, one training of each type."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from chalicelib.domain.models.model import RUNNING, SUCCEEDED, TrainRequest
from chalicelib.services.training import vision_learner
from tests.builders import World
from tests.pictures import detection_files, draw, label_folders


def _multi_label_files() -> dict[str, bytes]:
    """Draw images of shapes, some in two folders."""
    files: dict[str, bytes] = {}
    for number in range(8):
        shape = "circle" if number % 2 else "square"
        color = "red" if number % 4 < 2 else "blue"
        for label in (shape, color):
            files[f"{label}/{number}.png"] = draw(shape, color, salt=number)
    return files


FILES = {
    "image": lambda: label_folders({"circle": 4, "square": 4}),
    "image-multi-label": _multi_label_files,
    "image-detection": lambda: detection_files(3, ("circle",)),
}
# After this number of time checks a function is nearly out of time.
LOOKS = {"image": 8, "image-multi-label": 8, "image-detection": 2}


@pytest.mark.parametrize("kind", list(FILES))
def test_training_of_each_type(world: World, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A training that is interrupted again and again gives the same model, bit for bit."""
    for name in ("lite2", "nanodet"):
        folder = Path(world.settings.model_dir) / name
        assert (folder / "model.onnx").is_file(), "run: python -m infra.models install"
    monkeypatch.setattr(vision_learner, "SAVE_EPOCH_SECONDS", 0.0)
    view = world.pictures(FILES[kind](), kind)
    request = TrainRequest(epochs=2, params={"trainSplitRatio": 0.75})
    undisturbed = world.model(view, request)
    assert (undisturbed.status, undisturbed.failure) == (SUCCEEDED, "")

    model = world.train(view, request).model
    rounds, progress = 0, [0.0]
    while world.container.models.get(model.account_id, model.model_id).status != SUCCEEDED:
        [message] = world.messages()
        left = itertools.cycle([*[900.0] * (LOOKS[kind] - 1), 30.0])
        world.deliver(message, lambda left=left: next(left))
        state = world.container.models.get(model.account_id, model.model_id)
        assert state.status in (RUNNING, SUCCEEDED), state.failure
        progress.append(state.progress)
        rounds += 1
        assert rounds < 100

    done = world.container.models.get(model.account_id, model.model_id)
    files = world.stores.model_files
    assert rounds > 1
    assert progress == sorted(progress)
    assert files.artifact(done.model_id, done.version) == files.artifact(
        undisturbed.model_id, undisturbed.version
    )
    curves = world.container.models.curve
    assert curves(done, 0, 25).items == curves(undisturbed, 0, 25).items
    assert [record["epoch"] for record in curves(done, 0, 25).items] == [1, 2]
    assert done.stats is not None
    pictures = len(world.objects(f"datasets/{done.dataset_id}/images/"))
    assert done.stats.train_size + done.stats.test_size == pictures
