"""Pictures that are broken, hostile, too large or none at all, asked to be predicted.

Each is answered soon, costs no prediction, and delays no other caller.
"""

from __future__ import annotations

import base64

import pytest

from tests.bad_input.pictures import BOMBS, BROKEN, FOREIGN, JPEG, PNG
from tests.bad_input.watch import watched_health
from tests.formats.drawn import encoded, noise
from tests.live import Live

CLASSIFIER = "GeneralImageClassifier"
CALLS = ["predict", "detect"]
LIMIT = 5 * 1024 * 1024


@pytest.fixture(autouse=True)
def health(live: Live):
    """Nothing of this file keeps the service from answering others."""
    with watched_health(live):
        yield


def ask(live, call, **sample):
    """Call a model with a sample; the refusal must come in the gateway's time and cost nothing."""
    caller = live.studio.caller
    model_id = CLASSIFIER if call == "predict" else live.studio.finder
    before = used(caller)
    if "content" in sample:
        answer = caller.form(
            "POST",
            f"/v2/vision/{call}",
            ("modelId", model_id.encode(), None),
            ("sampleContent", sample["content"], sample.get("name", "picture.png")),
        )
    else:
        answer = caller.json("POST", f"/v2/vision/{call}", {"modelId": model_id, **sample})
    assert used(caller) == before
    return answer


def used(caller):
    """Predictions of the month."""
    return caller.get("/v2/apiusage").ok()["data"][0]["predictionsUsed"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("content", "words"),
    [*FOREIGN, (b"%PDF-1.7\n" + bytes(100), "PDF")],
)
def test_other_type_is_a_415(live, call, content, words):
    """What is neither PNG nor JPEG by its bytes is named, whatever its name says."""
    ask(live, call, content=content).refused(415, words, "PNG and JPEG are supported")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("content", "words"), BROKEN)
def test_broken_picture_is_a_400(live, call, content, words):
    """A PNG or JPEG that is broken, cut, or over a limit of pixels says so."""
    ask(live, call, content=content).refused(400, words)


@pytest.mark.parametrize("call", CALLS)
def test_picture_over_5_mb_is_a_413(live, call):
    """One byte more than the limit is refused, naming both, as a file and as base64."""
    content = JPEG + bytes(LIMIT + 1 - len(JPEG))

    ask(live, call, content=content).refused(413, str(LIMIT + 1), str(LIMIT))
    packed = base64.b64encode(content).decode()
    ask(live, call, sampleBase64Content=packed).refused(413, str(LIMIT + 1), str(LIMIT))


@pytest.mark.parametrize("make", BOMBS)
def test_bombs_are_bounded(live, make):
    """A small file that is large to decode is answered or refused in bounded time."""
    caller, content = live.studio.caller, make()

    answer = caller.form(
        "POST",
        "/v2/vision/predict",
        ("modelId", CLASSIFIER.encode(), None),
        ("sampleContent", content, "bomb.png"),
    )

    assert len(content) < LIMIT
    assert answer.status in (200, 400), answer


@pytest.mark.parametrize(
    ("sample", "status", "words"),
    [
        ({}, 400, "sampleContent"),
        ({"sampleBase64Content": ""}, 400, "sample"),
        ({"sampleBase64Content": "%%%"}, 400, "base64"),
        ({"sampleBase64Content": "data:image/png,abc"}, 400, "base64"),
        ({"sampleBase64Content": base64.b64encode(b"GIF89a").decode()}, 415, "GIF"),
        ({"sampleBase64Content": 5}, 400, "sampleBase64Content"),
        ({"sampleLocation": "file:///etc/passwd"}, 400, "http or https"),
        ({"sampleLocation": "http://169.254.169.254/latest/meta-data/"}, 400, ""),
        ({"sampleLocation": "http://localhost/a.png"}, 400, ""),
        ({"sampleLocation": "no address"}, 400, "http or https"),
        ({"sampleLocation": "http://127.0.0.1:1/", "sampleBase64Content": "AA=="}, 400, "exactly"),
    ],
)
def test_wrong_samples(live, sample, status, words):
    """A sample that is missing, doubled, unreadable or in a forbidden place is refused."""
    ask(live, "predict", **sample).refused(status, words)


@pytest.mark.parametrize(
    ("trap", "status"),
    [
        ("missing", 400),
        ("page", 415),
        ("empty", 400),
        ("nonsense", 400),
        ("huge", 413),
        ("short", 400),
        ("honest", 415),
        ("endless", 413),
    ],
)
def test_addresses_that_give_no_picture(live, trap, status):
    """What an address gives is judged like a file; one that cannot be read is a 400."""
    answer = ask(live, "detect", sampleLocation=live.tricks.url(f"/{trap}.png"))

    assert answer.refused(status)


def test_models_of_another_type(live):
    """Each call names the type of the model and the type it needs."""
    caller, sample = live.studio.caller, base64.b64encode(PNG).decode()
    for call, model_id in (
        ("predict", live.studio.finder),
        ("detect", CLASSIFIER),
        ("predict", "CommunitySentiment"),
        ("detect", "CommunitySentiment"),
    ):
        fields = {"modelId": model_id, "sampleBase64Content": sample}
        answer = caller.json("POST", f"/v2/vision/{call}", fields)
        answer.refused(400, "modelId", model_id, "type")
    fields = {"modelId": CLASSIFIER, "document": "hello"}
    caller.json("POST", "/v2/language/intent", fields).refused(400, CLASSIFIER)


@pytest.mark.parametrize("value", [0, -1, "x", 1.5, "", None, [1]])
def test_numbers_of_results(live, value):
    """A number of results that is none is refused; an absent one is not."""
    fields = {
        "modelId": CLASSIFIER,
        "sampleBase64Content": base64.b64encode(PNG).decode(),
        "numResults": value,
    }

    answer = live.studio.caller.json("POST", "/v2/vision/predict", fields)

    if value in ("", None):
        assert len(answer.ok()["probabilities"]) == 5
    else:
        answer.refused(400, "numResults")


def test_picture_in_json_content(live):
    """JSON cannot hold a file: bytes in its place are refused."""
    fields = {"modelId": CLASSIFIER, "sampleContent": "abc"}

    live.studio.caller.json("POST", "/v2/vision/predict", fields).refused(400, "sampleContent")


def test_noise_is_answered(live):
    """A picture without any sense is answered like any other."""
    fields = {"modelId": CLASSIFIER, "numResults": 1000}
    fields["sampleBase64Content"] = base64.b64encode(encoded(noise(40, 30), "PNG")).decode()

    items = live.studio.caller.json("POST", "/v2/vision/predict", fields).ok()["probabilities"]

    assert len(items) == 1000
    assert sum(item["probability"] for item in items) == pytest.approx(1, abs=1e-3)
