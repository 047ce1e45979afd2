"""Names, choices and reference outputs of the vision models, and what an installation holds."""

import hashlib
import json

import msgspec
import numpy as np
import pytest

from chalicelib.domain.models.model import PREBUILT
from chalicelib.engines import artifact
from chalicelib.engines.vision.backbone.pool import BackbonePool
from chalicelib.engines.vision.registry import PREBUILT_KIND
from chalicelib.web.records.model_records import CardRecord
from infra.downloads.errors import BrokenFile
from infra.model_files.description import Conversion, WrongOutputs
from infra.model_files.label_lists import COCO, FOOD, SCENE, imagenet_names
from infra.model_files.manifest import FAST, MODELS
from infra.model_files.prebuilt import vision_models
from infra.model_files.verification import vision_references
from infra.models import default_directory

DIRECTORY = default_directory()
VISION = [name for name in MODELS if MODELS[name].needs in (("lite2",), ("nanodet",))]
IMAGENET = json.loads((DIRECTORY / "lite2" / "labels.json").read_text())


def write_names(path, **changes):
    """Write a file of names, some of them changed, by `label_` and place."""
    names = list(IMAGENET)
    for place, name in changes.items():
        names[int(place.removeprefix("label_"))] = name
    path.write_text(json.dumps(names))
    return path


def test_names_are_read_and_made_distinct(tmp_path):
    """Duplicate names become distinct: two missiles and two sunglasses are four labels."""
    path = write_names(
        tmp_path / "names.json", label_657="missile", label_744="missile", label_836="sunglasses"
    )

    names = imagenet_names(path)

    assert names == IMAGENET
    assert len({name.casefold() for name in names}) == 1000
    assert names[744] == "projectile missile"


def test_names_that_are_equal_or_in_another_order_are_refused(tmp_path):
    """A list that would label predictions wrongly stops the installation."""
    path = tmp_path / "names.json"
    with pytest.raises(BrokenFile, match="alike"):
        imagenet_names(write_names(path, label_1="Tench"))
    with pytest.raises(BrokenFile, match=r"another order.*king penguin"):
        imagenet_names(write_names(path, label_145=IMAGENET[146], label_146=IMAGENET[145]))
    for content in (IMAGENET[1:], {}):
        path.write_text(json.dumps(content))
        with pytest.raises(BrokenFile, match="1,000 names"):
            imagenet_names(path)


def test_coco_has_its_eighty_labels():
    """The eighty names are distinct and well-known ones stand where COCO has them."""
    assert len(set(COCO)) == 80
    assert [COCO[place] for place in (0, 2, 15, 16, 39, 56, 67, 79)] == [
        *("person", "car", "cat", "dog", "bottle", "chair", "cell phone", "toothbrush")
    ]


@pytest.mark.parametrize("subset", [FOOD, SCENE], ids=["food", "scene"])
def test_subsets_name_labels_of_the_network(subset):
    """Every selected index has the name that is written next to it."""
    assert len(set(subset.values())) == len(subset) > 40
    assert list(subset) == sorted(subset)
    assert all(IMAGENET[place] == name for place, name in subset.items())


def test_subsets_do_not_overlap():
    """Nothing is both food and a place."""
    assert not FOOD.keys() & SCENE.keys()


def test_pictures_of_the_check_are_drawn_the_same_everywhere():
    """The pictures the references belong to are made of integers alone."""
    pictures = vision_references.draw(320)

    assert pictures.shape == (2, 320, 320, 3)
    assert (pictures[0, :, ::-1] == pictures[1]).all()
    assert hashlib.sha256(pictures.tobytes()).hexdigest().startswith("95c62c114c398d46")


@pytest.mark.parametrize("name", vision_references.SIDES)
@pytest.mark.parametrize("change", [1.01, np.nan])
def test_wrong_outputs_stop_the_installation(name, change):
    """A network whose outputs differ by a hundredth, or are not numbers, is refused."""
    outputs = vision_references.reference_samples(name)
    vision_references.check_outputs(name, outputs)
    last = list(outputs)[-1]

    with pytest.raises(WrongOutputs, match=f"{name}.*{last}"):
        vision_references.check_outputs(name, outputs | {last: outputs[last] * change})


@pytest.mark.parametrize("name", vision_references.SIDES)
def test_installed_backbones_give_the_reference_outputs(name):
    """The model directory contains the network, digest and facts included."""
    facts = json.loads((DIRECTORY / name / "backbone.json").read_text())
    content = (DIRECTORY / name / "model.onnx").read_bytes()
    labels = json.loads((DIRECTORY / name / "labels.json").read_text())

    vision_references.check_model(DIRECTORY / name / "model.onnx", name)

    assert facts["sha256"] == hashlib.sha256(content).hexdigest()
    assert (facts["name"], facts["title"]) == (name, MODELS[name].title)
    assert facts["licence"] == "Apache-2.0"
    assert len(labels) == {"lite2": 1000, "nanodet": 80}[name]
    assert BackbonePool(DIRECTORY).facts(name).sha256 == facts["sha256"]


def read_prebuilt(name):
    """Return an installed prebuilt model's artifact, its bytes and its card."""
    folder = DIRECTORY / "prebuilt" / name
    content = (folder / "artifact.npz").read_bytes()
    loaded = artifact.load(content, PREBUILT_KIND, vision_models.VERSION)
    return loaded, content, json.loads((folder / "card.json").read_text())


@pytest.mark.parametrize("name", VISION)
def test_installed_prebuilt_models_say_what_they_are(name):
    """Artifact and card agree with each other, with the backbone and with the API's records."""
    loaded, content, card = read_prebuilt(name)
    header, indexes = loaded.header, loaded.arrays["indexes"]
    backbone = BackbonePool(DIRECTORY).facts(header["backbone"])
    known = json.loads((DIRECTORY / header["backbone"] / "labels.json").read_text())

    assert header["model"] == name
    assert header["type"] == PREBUILT[name]
    assert header["sha256"] == backbone.sha256
    assert indexes.dtype == np.int64
    assert [known[index] for index in indexes] == header["labels"]
    assert len(set(header["labels"])) == len(indexes)
    msgspec.convert(card, CardRecord)
    assert card["artifactSha256"] == hashlib.sha256(content).hexdigest()
    assert card["engine"]["backbones"] == [
        {"name": backbone.title, "sha256": backbone.sha256, "licence": backbone.licence}
    ]


def test_all_four_are_installed_by_default():
    """`make run` installs the backbones before the models made of them."""
    assert set(VISION) == {
        "GeneralImageClassifier",
        "FoodImageClassifier",
        "SceneClassifier",
        "MultiLabelImageClassifier",
    }
    assert all(FAST.index(MODELS[name].needs[0]) < FAST.index(name) for name in VISION)


def test_cards_name_their_limits():
    """A subset is called one, and the multi-label card gives a threshold."""
    for name in ("FoodImageClassifier", "SceneClassifier"):
        assert "renormalised subset of ImageNet labels" in read_prebuilt(name)[2]["limits"]
    assert "threshold is 0.35" in read_prebuilt("MultiLabelImageClassifier")[2]["limits"]


def test_a_prebuilt_model_is_the_same_every_time(tmp_path):
    """Building again gives the same artifact, and another order of labels is refused."""
    model = MODELS["FoodImageClassifier"]
    content = read_prebuilt("FoodImageClassifier")[1]

    vision_models.build(Conversion(model, DIRECTORY, tmp_path, tmp_path, print))

    assert (tmp_path / "artifact.npz").read_bytes() == content
    (tmp_path / "lite2").mkdir()
    facts = (DIRECTORY / "lite2" / "backbone.json").read_text()
    (tmp_path / "lite2" / "backbone.json").write_text(facts)
    write_names(tmp_path / "lite2" / "labels.json", label_954="plantain")
    with pytest.raises(BrokenFile, match="label 954 is plantain, not banana"):
        vision_models.build(Conversion(model, tmp_path, tmp_path, tmp_path, print))
