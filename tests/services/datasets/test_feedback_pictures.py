"""Image feedback: which models take it, and unique names."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.domain.common.limits import MAX_IMAGE_BYTES
from chalicelib.domain.datasets.dataset import VISION, DatasetView
from chalicelib.domain.datasets.example import PictureFile
from chalicelib.domain.models.model import Model
from chalicelib.errors import (
    BadRequest,
    DatasetBeingDeleted,
    ExampleNameTaken,
    InvalidParameter,
    TooLarge,
    UnsupportedType,
)
from tests.builders import World, a_model
from tests.pictures import draw, label_folders

FILES = label_folders({"cat": 2, "dog": 2})
BIRD = draw("cross", "green")


def _view(world: World, kind: str = "image") -> DatasetView:
    """Upload a dataset."""
    return world.pictures(FILES, kind)


def _send(world: World, model: Model, content: bytes, label: str = "cat", **names: str):
    """Send an image as feedback."""
    file = PictureFile(content, **names)
    return world.container.feedback.add_picture(world.account, model, file, label)


@pytest.mark.parametrize("kind", ["image", "image-multi-label"])
def test_feedback_stands_behind_uploads(world: World, kind: str) -> None:
    """Feedback has the expected label and a temporary URL, and is listed after uploads."""
    view = _view(world, kind)

    sent = _send(world, a_model(view), BIRD, "dog", file_name="bird.png")

    page = world.container.examples.list_dataset(world.account, world.get(view), "all", 0, 100)
    assert [item.example.name for item in page.items][-2:] == ["dog-1.png", "bird.png"]
    assert (sent.label.name, sent.label.examples) == ("dog", 3)
    assert "X-Amz-Expires=1800" in sent.location
    feedback = world.container.examples.list_dataset(
        world.account, world.get(view), "feedback", 0, 100
    )
    assert [item.example for item in feedback.items] == [sent.example]


def test_name_that_is_in_use(world: World) -> None:
    """A name used by an upload or feedback of any label is refused; an unused one is accepted."""
    view = _view(world)
    model = a_model(view)
    _send(world, model, BIRD, "dog", file_name="bird.png")

    for name in ("cat-0.png", "dog-1.png", "bird.png"):
        with pytest.raises(ExampleNameTaken, match=f"name '{name}'. Send another 'name'"):
            _send(world, model, BIRD, "cat", file_name=name)
    assert _send(world, model, BIRD, "cat", file_name="bird.png", name="bird 2.png")
    assert world.get(view).dataset.total == 6


def test_name_is_compared_as_it_is_kept(world: World) -> None:
    """Names that are equal after truncation conflict; another case is another name."""
    model = a_model(_view(world))
    _send(world, model, BIRD, name="n" * 150)

    with pytest.raises(ExampleNameTaken):
        _send(world, model, draw(salt=9), name="n" * 151)
    assert _send(world, model, draw(salt=9), name="N" * 150)


def test_names_of_later_additions(world: World) -> None:
    """Names added singly and by other processes are seen at once."""
    view = _view(world)
    model = a_model(view)
    _send(world, model, BIRD, file_name="bird.png")
    world.container.examples.add_picture(
        world.account, view, PictureFile(BIRD, "single.png"), None, "a new label"
    )
    _send(world.another(), model, draw(salt=1), file_name="elsewhere.png")

    for name in ("single.png", "elsewhere.png"):
        with pytest.raises(ExampleNameTaken):
            _send(world, model, draw(salt=2), file_name=name)


def test_same_feedback_again(world: World) -> None:
    """Repeating a feedback call returns the existing example, although its name is in use."""
    view = _view(world)
    model = a_model(view)
    first = _send(world, model, BIRD, file_name="bird.png")
    again = _send(world, model, BIRD, file_name="bird.png")
    renamed = _send(world, model, BIRD, file_name="other.png")

    assert first.example == again.example == renamed.example
    assert world.get(view).dataset.total == 5


def test_uploaded_picture_may_be_feedback(world: World) -> None:
    """An image of the upload can be feedback under another name."""
    view = _view(world)
    sent = _send(world, a_model(view), FILES["cat/cat-0.png"], "dog", name="was no cat.png")

    assert (sent.example.name, sent.label.name) == ("was no cat.png", "dog")


def test_one_of_many_gets_the_name(world: World) -> None:
    """Of simultaneous calls with different images and one name, exactly one succeeds."""
    view = _view(world)
    model = a_model(view)
    world.one_call_at_a_time()

    def send(salt: int) -> bool:
        """Send an image; return False if the name is in use."""
        try:
            _send(world, model, draw(salt=20 + salt), file_name="same.png")
        except ExampleNameTaken:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(send, range(8)))

    assert sum(taken) == 1
    assert world.get(view).dataset.total == 5


def test_refused_feedback(world: World) -> None:
    """Unusable feedback is refused with a remedy, and stores nothing."""
    view = _view(world)
    model, before = a_model(view), world.objects()

    with pytest.raises(InvalidParameter, match="it has: cat, dog"):
        _send(world, model, BIRD, "bird")
    with pytest.raises(InvalidParameter, match=r"image-detection; .*PUT /v2/vision/bulkfeedback"):
        _send(world, a_model(view, type="image-detection"), BIRD)
    with pytest.raises(InvalidParameter, match="use a model of type image or image-multi-label"):
        _send(world, a_model(view, type="text-intent"), BIRD)
    with pytest.raises(TooLarge):
        _send(world, model, BIRD + bytes(MAX_IMAGE_BYTES))
    with pytest.raises(UnsupportedType, match="an HTML page"):
        _send(world, model, b"<html><img></html>", file_name="bird.jpg")
    assert world.objects() == before
    assert world.get(view).dataset == view.dataset


def test_feedback_to_a_deleted_dataset(world: World) -> None:
    """During a deletion and after it feedback is refused, each with its reason."""
    view = _view(world)
    world.container.deletions.delete_dataset(world.account, VISION, view.dataset.dataset_id)
    with pytest.raises(DatasetBeingDeleted):
        _send(world, a_model(view), BIRD)
    world.work()
    with pytest.raises(BadRequest, match="was deleted, so it takes no feedback"):
        _send(world, a_model(view), BIRD)
    assert not world.objects()
