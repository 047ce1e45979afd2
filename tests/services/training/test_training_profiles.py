"""Profiles of text trainings: encoders, cards and requirements."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chalicelib.config import Settings
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.domain.models.model import SUCCEEDED, Model, TrainRequest
from chalicelib.engines.text.benefit import Benefit
from chalicelib.engines.text.encoding import profiles
from chalicelib.engines.text.encoding.encoders import ACCURATE
from chalicelib.errors import EncoderMissing
from tests.builders import TinyEncoder, World, empty_aws, some_rows
from tests.conftest import MovableClock

ROWS = some_rows({"book": 10, "cancel": 10})


@pytest.fixture
def world(aws_in_memory: None, settings: Settings, clock: MovableClock, tmp_path: Path) -> World:
    """A service with the accurate profile by default, and no encoder installed."""
    chosen = replace(settings, text_profile=ACCURATE, model_dir=str(tmp_path))
    empty_aws(chosen)
    return World(chosen, clock)


def _add(world: World, *names: str) -> None:
    """Install encoders of the accurate profile."""
    world.container.encoders._encoders.update({name: TinyEncoder(name) for name in names})


def _engine(world: World, model: Model) -> dict[str, object]:
    """Return profile and encoders of the engine in a model's card."""
    assert (model.status, model.failure) == (SUCCEEDED, "")
    engine = world.container.models.card(model.account_id, model.model_id)["engine"]
    names = [encoder["name"].removeprefix("tiny ") for encoder in engine["encoders"]]
    assert all(len(encoder["sha256"]) == 64 for encoder in engine["encoders"])
    return {"profile": engine["profile"], "encoders": names}


def _predict(world: World, model: Model) -> str:
    """Predict with a model."""
    return world.answer(model.model_id, "book please number 3")[0].label


def test_best_installed_encoders_are_taken(world: World) -> None:
    """By default a training uses the fast profile, or the accurate one if installed."""
    view = world.dataset(ROWS, fields=UploadFields("intents", "text-intent", language="fr"))

    before = world.model(view)
    _add(world, "e5")
    after = world.model(view)

    assert _engine(world, before) == {"profile": "fast", "encoders": ["use"]}
    assert _engine(world, after) == {"profile": "accurate", "encoders": ["e5", "use"]}
    assert (_predict(world, before), _predict(world, after)) == ("book", "book")


@pytest.mark.parametrize(("is_worth_it", "profile"), [(False, "fast"), (True, "balanced")])
def test_a_further_encoder_is_used_if_a_sample_shows_a_gain(
    world: World, monkeypatch: pytest.MonkeyPatch, is_worth_it: bool, profile: str
) -> None:
    """With enough texts a sample decides whether to add an encoder; the card has the reason."""
    _add(world, "minilm")
    monkeypatch.setattr(Benefit, "is_worth_it", is_worth_it)
    monkeypatch.setattr(profiles, "_COMPARED_PART", 100.0)
    view = world.dataset(some_rows({"book": 110, "cancel": 110}))

    model = world.model(view)

    engine = world.container.models.card(model.account_id, model.model_id)["engine"]
    assert engine["profile"] == profile
    assert "on a sample of 220 texts" in engine["profileReason"]
    assert "bge+mpnet is not tried: mpnet is not installed" in engine["profileReason"]
    assert _predict(world, model) == "book"
    further = world.container.encoders._encoders["minilm"]
    assert isinstance(further, TinyEncoder)
    seen = further.texts
    world.model(view)
    # Names of labels: in two comparisons and the fit, or in one comparison.
    phrases = 2 * (3 if profile == "balanced" else 1)
    assert further.texts - seen == phrases


def test_the_card_gives_the_reason_for_the_profile(world: World) -> None:
    """The card's reason is too few texts, a request, or a missing encoder."""
    view = world.dataset(ROWS)

    def reason(request: TrainRequest | None = None) -> str:
        model = world.model(view, request)
        engine = world.container.models.card(model.account_id, model.model_id)["engine"]
        return str(engine["profileReason"])

    missing = "Chosen automatically: bge+minilm is not tried: minilm is not installed"
    assert reason() == f"{missing}; bge+mpnet is not tried: mpnet is not installed."
    _add(world, "mpnet")
    refused = "bge+mpnet (4.2 x the cost) is not taken: too few texts to compare"
    assert reason() == f"{missing}; {refused}."
    assert reason(TrainRequest(params={"profile": "fast"})) == "The request names it."


def test_fast_profile_is_forced(world: World) -> None:
    """`trainParams.profile` fast does not use an installed large encoder."""
    _add(world, "mpnet")

    model = world.model(world.dataset(ROWS), TrainRequest(params={"profile": "fast"}))

    assert _engine(world, model)["encoders"] == ["bge"]
    assert world.container.encoders._encoders["mpnet"].texts == 0


def test_accurate_profile_is_forced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """`trainParams.profile` accurate applies even if the data does not justify it."""
    _add(world, "mpnet")
    monkeypatch.setattr(profiles, "BUDGET_SECONDS", 0.001)
    view = world.dataset(ROWS)

    auto, forced = world.model(view), world.model(view, TrainRequest(params={"profile": ACCURATE}))

    assert _engine(world, auto)["profile"] == "fast"
    assert _engine(world, forced)["profile"] == "accurate"


@pytest.mark.parametrize(
    ("language", "algorithm"), [("fr", None), ("ja", None), ("ENGLISH", "multilingual-intent-ood")]
)
def test_other_languages_take_the_multilingual_encoder(
    world: World, language: str, algorithm: str | None
) -> None:
    """Models of other languages use e5 in addition to the multilingual encoder."""
    _add(world, "mpnet", "e5")
    fields = UploadFields("intents", "text-intent", language=language)

    model = world.model(world.dataset(ROWS, fields=fields), TrainRequest(algorithm=algorithm))

    assert _engine(world, model) == {"profile": "accurate", "encoders": ["e5", "use"]}


def test_model_without_its_encoder_answers_nothing(world: World) -> None:
    """Without its large encoder an accurate model is a 409 until it is installed again."""
    _add(world, "mpnet")
    model = world.model(world.dataset(ROWS), TrainRequest(params={"profile": ACCURATE}))
    other = world.another()
    del other.container.encoders._encoders["mpnet"]

    with pytest.raises(EncoderMissing, match=r"the encoder mpnet .*infra\.models install") as found:
        _predict(other, model)

    assert found.value.status == 409
    assert _predict(world, model) == "book"
    _add(other, "mpnet")
    assert _predict(other, model) == "book"


def test_settings_keep_trainings_fast(world: World) -> None:
    """PRESAGE_TEXT_PROFILE=fast is the default profile."""
    _add(world, "mpnet")
    view = world.dataset(ROWS)
    other = world.another(replace(world.settings, text_profile="fast"))

    auto, wished = other.model(view), other.model(view, TrainRequest(params={"profile": ACCURATE}))

    assert _engine(other, auto)["profile"] == "fast"
    assert _engine(other, wished)["profile"] == "accurate"
