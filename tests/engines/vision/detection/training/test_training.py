"""Detection trainings from start to end, on drawn images."""

import json
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from chalicelib.domain.documents.picture import Box
from chalicelib.domain.models.training_pictures import LabelledBox, TrainingPictures
from chalicelib.engines.interface import Interval
from chalicelib.engines.vision.backbone.pool import Backbone
from chalicelib.engines.vision.detection.algorithms import FLOOR, rules_of
from chalicelib.engines.vision.detection.evaluation.comparison import Compared
from chalicelib.engines.vision.detection.inference import detector
from chalicelib.engines.vision.detection.inference.model_file import load_model
from chalicelib.engines.vision.detection.report import json_documents
from chalicelib.engines.vision.detection.training import context, trials
from chalicelib.engines.vision.detection.training.training import DetectionTraining
from chalicelib.engines.vision.detection.training.trials import Trials
from chalicelib.engines.vision.detection.views.extractor import DetectionExtractor
from chalicelib.engines.vision.detection.views.maps import maps_of
from chalicelib.engines.vision.interface import FittedVision, VisionData, VisionStep
from chalicelib.errors import TrainingFailed
from tests.engines.vision.detection.drawn import (
    MODEL,
    NOW,
    POOL,
    drawn_data,
    drawn_picture,
    options,
)
from tests.engines.vision.memory_features import MemoryFeatures
from tests.known_outputs import name_pixels, once_per_input


@pytest.fixture(scope="module", autouse=True)
def known_outputs() -> Iterator[None]:
    """Compute the outputs of the frozen networks once per input, because all trainings share it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Backbone, "run", once_per_input(Backbone.run, name_pixels))
        yield


def run(training: DetectionTraining, steps: int = 10_000) -> list[VisionStep]:
    """Run several steps of a training."""
    done = []
    while len(done) < steps and (step := training.step()) is not None:
        done.append(step)
    return done


def trained(count: int = 16, **changes: object) -> tuple[FittedVision, list[VisionStep]]:
    """Train on drawn images without interruption."""
    training = DetectionTraining(drawn_data(count), options(**changes), POOL)
    steps = run(training)
    return training.finish(MODEL, NOW), steps


@pytest.fixture(scope="module")
def whole() -> tuple[FittedVision, list[VisionStep]]:
    """An uninterrupted training."""
    return trained()


def test_a_broken_training_gives_the_same_bytes(whole):
    """A training resumed after every step ends with the same model and card, bit for bit."""
    records, checkpoint = [], None
    while True:
        training = DetectionTraining(drawn_data(), options(), POOL, checkpoint)
        step = training.step()
        if step is None:
            break
        records += [step.record] if step.record else []
        checkpoint = training.save()
    fitted = training.finish(MODEL, NOW)

    assert whole[0].artifact == fitted.artifact
    assert whole[0].card == fitted.card
    assert [step.record for step in whole[1] if step.record] == records


def test_the_number_of_threads_changes_nothing():
    """One thread trains the same model as two, bit for bit."""
    one, two = (trained(10, threads=threads)[0] for threads in (1, 2))

    assert one.artifact == two.artifact


@pytest.fixture
def long_epochs(monkeypatch):
    """Six passes per epoch over 8 images, as options of a training."""
    monkeypatch.setattr(Trials, "needs_dense", True)
    monkeypatch.setattr(context, "_FEWEST_STEPS", 12)
    monkeypatch.setattr(context, "_MOST_PASSES", 6)


def gone_over(**changes: object) -> DetectionTraining:
    """Return a training of one epoch over 8 of the drawn images."""
    return DetectionTraining(drawn_data(8), options(epochs=1, **changes), POOL)


def test_few_pictures_are_gone_over_several_times_an_epoch(long_epochs):
    """Without requested epochs small sets get enough steps, in as many records."""
    named, unnamed = (gone_over(has_named_epochs=named) for named in (True, False))

    steps = [run(named), run(unnamed)]

    assert [[s.record["epoch"] for s in part if s.record] for part in steps] == [[1], [1]]
    assert unnamed._dense.run.batches > named._dense.run.batches
    assert named.epochs_done == unnamed.epochs_done == 1


def test_broken_passes_give_the_same_bytes(long_epochs):
    """A training resumed within an epoch learns the same head."""
    whole, broken = (gone_over(has_named_epochs=False) for _ in range(2))
    run(broken, 1)
    other = DetectionTraining(
        drawn_data(8), options(epochs=1, has_named_epochs=False), POOL, broken.save()
    )
    assert other.epochs_done == 0

    run(whole)
    run(other)

    assert whole.finish(MODEL, NOW).artifact == other.finish(MODEL, NOW).artifact


def from_proposals(checkpoint: bytes | None = None) -> DetectionTraining:
    """Return a training whose proposals leave nothing to gain for a dense head."""
    # Ten images are too few for crops and mirror images, which come after both heads.
    return DetectionTraining(
        drawn_data(10), options(epochs=3, has_named_epochs=False), POOL, checkpoint
    )


def test_good_proposals_train_no_dense_head(monkeypatch):
    """If proposals are good, the training ends early; card and model say that they are used."""
    monkeypatch.setattr(trials, "_GOOD_OF_FEW", 0.0)
    whole = from_proposals()

    records = [step.record for step in run(whole) if step.record]
    fitted = whole.finish(MODEL, NOW)

    assert [record["epoch"] for record in records] == [1]
    assert records[0]["metricsData"]["modelMetrics"]["trainingLoss"] > 0
    assert fitted.epochs == 1
    assert fitted.early_stopping
    assert not fitted.card["engine"]["denseHead"]["isOn"]
    assert load_model(fitted.artifact).vector is None


def test_a_broken_training_of_proposals_gives_the_same_bytes(monkeypatch):
    """A training of proposals resumed after every step gives the same model."""
    monkeypatch.setattr(trials, "_GOOD_OF_FEW", 0.0)
    whole, broken = from_proposals(), from_proposals()
    run(whole)

    while broken.step() is not None:
        epochs, broken = broken.epochs_done, from_proposals(broken.save())
        assert broken.epochs_done == epochs

    assert whole.finish(MODEL, NOW).artifact == broken.finish(MODEL, NOW).artifact


def test_poor_proposals_are_followed_by_a_dense_head(monkeypatch):
    """The dense head's records follow those of the proposals, within the requested epochs."""
    monkeypatch.setattr(trials, "_FEWEST_BOXES", 0)
    monkeypatch.setattr(trials, "_GOOD_OF_FEW", 1.1)
    monkeypatch.setattr(trials, "_BEHIND", 1.0)
    monkeypatch.setattr(Compared, "is_large", True)
    training = from_proposals()

    records = [step.record for step in run(training) if step.record]
    fitted = training.finish(MODEL, NOW)

    assert [record["epoch"] for record in records] == [1, 2, 3]
    assert not fitted.early_stopping
    assert fitted.card["engine"]["denseHead"]["isOn"]


def test_a_poor_model_is_called_not_usable(whole):
    """A model with a score below .3 is called not usable, with the boxes that labels need."""
    facts = SimpleNamespace(measured=20, average_precision=Interval(0.2, 0.1, 0.3))
    context = DetectionTraining(drawn_data(), options(), POOL)._context

    text = " ".join(json_documents._measured_limits(context, facts))

    assert "not usable yet: its mean average precision is 0.20" in text
    assert "16 boxes a label; label at least 30" in text
    assert "not usable" not in whole[0].card["limits"]


def test_another_seed_learns_another_model():
    """The seed determines split, order and initial weights."""
    trainings = [
        DetectionTraining(drawn_data(5), options(epochs=1, seed=seed), POOL) for seed in (0, 5)
    ]
    for training in trainings:
        run(training)

    first, second = (training.finish(MODEL, NOW).artifact for training in trainings)

    assert first != second


def test_each_epoch_is_recorded_in_the_contracts_form(whole):
    """A record has the metrics of every label, and only the contract's members."""
    records = [step.record for step in whole[1] if step.record]

    assert [record["epoch"] for record in records] == [1, 2]
    assert {"epoch", "metricsData", "epochResults", "object"} == set(records[0])
    labels = records[0]["metricsData"]["labelMetrics"]
    assert [label["label"] for label in labels] == ["ball", "crate"]
    assert {"label", "averagePrecision", "f1", "precision", "recall"} == set(labels[0])
    assert records[1]["metricsData"]["modelMetrics"]["trainingLoss"] > 0
    json.dumps(records, allow_nan=False)


def test_the_share_never_falls_and_reaches_one(whole):
    """Progress never falls and reaches one."""
    shares = [step.share for step in whole[1]]

    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_the_card_has_training_data_and_methods(whole):
    """The card has backbones, images, the methods tried and the report."""
    card, fitted = whole[0].card, whole[0]

    assert fitted.train_size + fitted.test_size == 16
    assert fitted.test_size >= 2
    assert card["trainedOn"] == {
        "datasetId": 7,
        "examples": 32,
        "pictures": 16,
        "labels": 2,
        "feedback": 0,
    }
    assert len(card["engine"]["backbones"]) == 2
    look = card["engine"]["secondLook"]
    assert look["meanAveragePrecisionWith"] is not None
    dense = card["engine"]["denseHead"]
    assert dense["isOn"] == (dense["gain"]["value"] >= 0.02)
    assert look["isOn"] == (dense["isOn"] and look["gain"]["low"] > 0)
    mirror = card["engine"]["mirrorImage"]
    assert mirror["meanAveragePrecisionWith"] is not None
    is_gain = mirror["gain"]["value"] >= 0.01 or mirror["gain"]["low"] > 0
    assert mirror["isOn"] == (dense["isOn"] and is_gain)
    proposals = card["engine"]["proposals"]
    assert 0 <= proposals["meanAveragePrecision"] <= 1
    assert mirror["timeFactor"] == 2
    assert set(card["dataReport"]) >= {"likelyLabelErrors", "conflictingNearDuplicates"}
    json.dumps(card, allow_nan=False)


def test_a_model_answers_by_the_rules_that_it_was_measured_with(whole):
    """The artifact has the decay with which the calibration was computed."""
    assert load_model(whole[0].artifact).rules == rules_of("object-detection")
    assert rules_of("object-detection").decay is not None


@pytest.fixture(scope="module", params=[False, True])
def judged(request: pytest.FixtureRequest) -> tuple[bool, DetectionTraining, FittedVision]:
    """A training that chooses every method, and one that uses proposals alone.

    With it comes which of the two it is, and its result.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compared, "is_certain", request.param)
        patch.setattr(Compared, "is_likely", request.param)
        patch.setattr(Compared, "is_large", request.param)
        training = DetectionTraining(drawn_data(), options(), POOL)
        run(training)
        return request.param, training, training.finish(MODEL, NOW)


def test_held_out_pictures_are_measured_with_the_answers_that_are_served(judged):
    """Metrics are computed with the same methods that the model serves."""
    is_worth_it, training, fitted = judged
    data = drawn_data()
    loaded = load_model(fitted.artifact)
    model = detector.load(fitted.artifact, POOL)

    assert loaded.is_mirrored == (loaded.crop_head is not None) == is_worth_it
    assert loaded.proposal_head is not None
    assert (loaded.vector is not None) == is_worth_it
    assert ("together with its mirror image" in fitted.card["limits"]) == is_worth_it
    places = training._review.places[: fitted.test_size]
    for place, measured in zip(places, training._review.evaluated, strict=True):
        served = [item.probability for item in model.predict(data.open_picture(place, 0))]
        expected = loaded.calibration.apply(measured.scores)
        assert served == pytest.approx(expected[expected >= FLOOR].tolist())


def test_a_second_look_is_compared_with_the_mirror_images_that_are_on(judged):
    """The gain of the second look is measured with mirrored inference, if that was chosen."""
    is_worth_it, _, fitted = judged
    engine = fitted.card["engine"]

    mirrored = engine["mirrorImage"]["meanAveragePrecisionWith" + ("" if is_worth_it else "out")]
    assert engine["secondLook"]["meanAveragePrecisionWithout"] == mirrored


def test_a_mirror_image_is_the_same_computed_and_as_a_copy():
    """Mirrored maps are the same from a stored copy and computed."""
    data = drawn_data(1)
    known, image = data.pictures.pictures[0], data.open_picture(0, 0)
    copies = MemoryFeatures(DetectionExtractor(POOL), [image], [known.digest], augment=True)

    computed, stored = (
        context.make_context(given, options(split_ratio=1.0), POOL).mirrored_maps(0)
        for given in (data, replace(data, features=copies))
    )

    np.testing.assert_array_equal(computed.fine, stored.fine)
    assert not np.array_equal(computed.fine, maps_of(data.features.row(0)).fine)


def test_a_model_trained_on_everything_finds_what_was_drawn():
    """After a few epochs ball and crate are found in a new image."""
    training = DetectionTraining(
        drawn_data(8), options(epochs=14, split_ratio=1.0, learning_rate=0.002), POOL
    )
    run(training)
    fitted = training.finish(MODEL, NOW)
    model = detector.load(fitted.artifact, POOL)
    image, known = drawn_picture(99)

    found = model.predict(image)

    assert fitted.test_size == 0
    assert fitted.metrics["modelMetrics"]["meanAveragePrecision"] is None
    assert 0 <= fitted.card["calibrationError"] <= 1
    assert 0.05 <= fitted.card["threshold"] < 1
    for label, box in known:
        best = next(item for item in found if item.label == model.labels[label])
        middle = (best.box.min_x + best.box.max_x) / 2, (best.box.min_y + best.box.max_y) / 2
        assert middle == pytest.approx((box.x + box.width / 2, box.y + box.height / 2), abs=15)
    probabilities = [item.probability for item in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert min(probabilities) >= 0.05


def test_pictures_without_boxes_teach_nothing():
    """A dataset without a box fails with a remedy."""
    data = drawn_data()
    bare = [replace(image, boxes=()) for image in data.pictures.pictures]

    with pytest.raises(TrainingFailed, match=r"has a box\. Add images with annotations"):
        DetectionTraining(with_pictures(data, bare), options(), POOL)


def test_boxes_that_are_too_thin_teach_nothing():
    """If all boxes are too thin, the error names a file, its box and the remedy."""
    data = drawn_data()
    thin = (LabelledBox(0, Box(3, 4, 1, 90), 1),)
    pictures = [replace(image, boxes=thin) for image in data.pictures.pictures]

    with pytest.raises(TrainingFailed, match=r"drawn-0\.png .* x 3, y 4 1 x 90.*Crop the images"):
        DetectionTraining(with_pictures(data, pictures), options(), POOL)


def test_a_label_with_two_pictures_is_trained_and_not_tested():
    """A label with two images is trained and has no average precision."""
    data = drawn_data(8)
    pictures = [
        replace(image, boxes=image.boxes if place < 2 else image.boxes[:1])
        for place, image in enumerate(data.pictures.pictures)
    ]
    training = DetectionTraining(with_pictures(data, pictures), options(epochs=1), POOL)
    run(training)

    labels = training.finish(MODEL, NOW).metrics["labelMetrics"]

    assert labels[0]["averagePrecision"] is not None
    assert labels[1] == {
        "label": "crate",
        "averagePrecision": None,
        "f1": [],
        "precision": [],
        "recall": [],
    }


def test_features_that_are_no_numbers_end_the_training():
    """Features that are not finite end the training with an error."""
    data = drawn_data()

    class Broken:
        """Features that are not finite."""

        size = staticmethod(data.features.size)
        views = staticmethod(data.features.views)

        def row(self, place: int, view: int = 0) -> np.ndarray:
            """Return NaN."""
            return np.full_like(data.features.row(place, view), np.nan)

    training = DetectionTraining(replace(data, features=Broken()), options(), POOL)

    with pytest.raises(TrainingFailed, match=r"features of drawn-\d+\.png are not finite"):
        run(training)


def test_retail_execution_learns_from_tiles():
    """The retail-execution algorithm trains on tiles and answers from all of them."""
    data = drawn_data(2, retail=True)
    training = DetectionTraining(
        data, options(epochs=1, algorithm="retail-execution", split_ratio=1.0), POOL
    )
    run(training)
    fitted = training.finish(MODEL, NOW)

    assert data.features.views(0) == 13
    assert fitted.card["engine"]["algorithm"] == "retail-execution"
    assert not fitted.card["engine"]["mirrorImage"]["isOn"]
    detector.load(fitted.artifact, POOL).predict(drawn_picture(99)[0])


def with_pictures(data: VisionData, pictures: list) -> VisionData:
    """Return the same features with other annotations."""
    return replace(data, pictures=TrainingPictures(data.pictures.labels, pictures, 32, 0))
