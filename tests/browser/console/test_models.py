"""Tests of model pages: learning curve, metrics, calibration and comparison."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.console.test_access import settled, violations
from tests.browser.console.test_upload import drop
from tests.live import SHOP

EPOCHS = 4


@pytest.fixture
def model(owner) -> str:
    """The id of a trained text model."""
    return str(owner.get("/v2/language/models").ok()["data"][0]["modelId"])


def test_curve_grows_during_a_training(console, live):
    """The curve appears before the training ends, and gains epochs.

    A training can end between two polls of the page. So this one has ended, and until `shown` is
    EPOCHS the page gets its records as they were after that many epochs.
    """
    caller, page = live.studio.caller, console.page
    asked = {"name": "growing", "datasetId": live.studio.signs["id"], "epochs": EPOCHS}
    model = caller.json("POST", "/v2/vision/train", asked).ok()["modelId"]
    training = f"/v2/vision/train/{model}"
    assert caller.wait(training, "status", "QUEUED", "RUNNING")["status"] == "SUCCEEDED"
    shown = 1

    def answer_training(route: Route) -> None:
        running = {"status": "RUNNING", "progress": shown / EPOCHS} if shown < EPOCHS else {}
        route.fulfill(json={**caller.get(training).ok(), **running})

    def answer_curve(route: Route) -> None:
        curve = caller.get(f"/v2/vision/models/{model}/lc").ok()
        epochs = [record for record in curve["data"] if record["epoch"] <= shown]
        route.fulfill(json={**curve, "data": epochs})

    page.route(f"**{training}", answer_training)
    page.route(f"**/v2/vision/models/{model}/lc*", answer_curve)
    console.enter(caller, f"model/vision/{model}")
    plot = page.get_by_role("img", name="epoch")
    for shown in range(1, EPOCHS):
        expect(plot).to_have_accessible_name(re.compile(rf"epoch {shown}\b"))
        expect(plot.locator("polyline").first).to_be_attached()
        expect(page.get_by_role("progressbar")).to_be_visible()
    shown = EPOCHS
    expect(page.get_by_text("Next steps")).to_be_visible()
    page.get_by_role("heading", name="Learning curve").click()  # it is folded now
    expect(plot).to_have_accessible_name(re.compile(rf"epoch {EPOCHS}\b"))


def test_labels_have_intervals_and_a_threshold(console, owner, model):
    """Precision and recall have confidence intervals; the slider updates both."""
    console.enter(owner, f"model/language/{model}")
    page = console.page
    table = page.get_by_role("region", name="Metrics per label")
    expect(table.get_by_role("row")).to_have_count(3)
    shares = table.locator(".rate")
    assert shares.count() >= 2
    for one in shares.all():
        assert re.fullmatch(r"between \d+\s% and \d+\s%", one.get_attribute("title"))
    slider = page.get_by_role("slider", name="Threshold")
    said = slider.locator("xpath=../following-sibling::p")
    expect(said).to_contain_text("Precision")
    slider.focus()
    console.press("End")
    expect(page.get_by_text(re.compile(r"^Threshold \d"))).to_be_visible()
    metrics = owner.get(f"/v2/language/models/{model}").ok()["metricsData"]
    recall = metrics["precisionRecallCurve"]["recall"][-1]
    expect(said).to_contain_text(f"recall {recall * 100:.1f}")


def test_threshold_is_chosen_by_a_target_precision(console, owner, model):
    """The slider shows threshold and coverage of the card; a file is classified with it."""
    page = console.page
    figures = {"coverageLow": 0.7, "coverageHigh": 0.8}
    thresholds = [
        {"precision": 0.9, "threshold": 0.4, "coverage": 0.9, **figures},
        {"precision": 0.95, "threshold": 0.65432, "coverage": 0.75, **figures},
        {"precision": 0.99, "threshold": None, "coverage": 0, **figures},
    ]
    card = owner.get(f"/v2/language/models/{model}/card").ok()
    path = f"**/v2/language/models/{model}/card"
    page.route(path, lambda route: route.fulfill(json={**card, "thresholds": thresholds}))
    console.enter(owner, f"model/language/{model}")
    said = page.locator("section", has_text="Threshold for a target").get_by_role("status")
    expect(said).to_contain_text("From a probability of 0.655, the model answers 75.0")
    expect(said).to_contain_text("between 70")
    page.get_by_role("slider", name="answers are right").focus()
    console.press("End")
    expect(said).to_contain_text("No threshold reaches 99")
    console.press("ArrowLeft")
    page.get_by_role("link", name="Review below 0.655").click()
    drop(console, "new.csv", SHOP)
    expect(page.get_by_text(re.compile("Mark for review below 65|66"))).to_be_visible()


def test_model_is_adjusted_by_decisions_about_texts(console, owner, model):
    """The card's adjustment is shown, and decisions about its nearest texts are sent as a file."""
    page = console.page
    nearest = [
        {"text": f"where is it {n}", "label": "delivery", "isRejected": n % 2 == 0}
        for n in range(20)
    ]
    rate = {"value": 0.2, "low": 0.15, "high": 0.25}
    adjustment = {
        "labelled": 30, "outOfDomain": 12, "unlabelled": 210, "temperatureFactor": 1, "feedback": 7,
        "rejectedBefore": rate, "rejectedAfter": rate, "outOfDomainRate": 0.1, "nearest": nearest,
    }  # fmt: skip
    card = owner.get(f"/v2/language/models/{model}/card").ok()
    path = f"**/v2/language/models/{model}"
    page.route(f"{path}/card", lambda route: route.fulfill(json={**card, "adjustment": adjustment}))
    # The answer is fixed, because the model of the other tests must stay as it is.
    sent: list[bytes] = []
    page.route(f"{path}/adjust", lambda route: (
        sent.append(route.request.post_data_buffer), route.fulfill(json={"modelId": model})
    ))  # fmt: skip
    console.enter(owner, f"model/language/{model}")
    expect(page.get_by_text("30 labelled, 12 out-of-domain and 210 unlabelled")).to_be_visible()
    expect(page.get_by_text("7 of them are feedback")).to_be_visible()
    again = page.get_by_role("button", name="Adjust with")
    expect(again).to_be_disabled()
    for n in range(20):
        decision = page.get_by_label(f"Decision about where is it {n}", exact=True)
        decision.select_option("out-of-domain" if n else "refund")
    settled(console)
    assert violations(console) == []
    with page.expect_response(f"{path}/adjust"):
        again.click()
    assert b'"where is it 0","refund"' in sent[0]
    assert b'"where is it 19","out-of-domain"' in sent[0]
    assert b"withFeedback" not in sent[0]


def test_an_adjustment_uses_feedback_if_the_page_asks(console, owner, model):
    """The checkbox of feedback examples is sent with the file."""
    page, sent = console.page, []
    path = f"**/v2/language/models/{model}"
    page.route(f"{path}/adjust", lambda route: (
        sent.append(route.request.post_data_buffer), route.fulfill(json={"modelId": model})
    ))  # fmt: skip
    console.enter(owner, f"model/language/{model}")
    page.get_by_text("Adjust to texts of users").click()
    file = {"name": "users.csv", "mimeType": "text/csv", "buffer": b"text,label\nwhere,delivery\n"}
    page.get_by_label("Texts of users", exact=True).set_input_files(file)
    page.get_by_label("Also use the feedback examples").check()
    with page.expect_response(f"{path}/adjust"):
        page.get_by_role("button", name="Adjust the model").click()
    assert re.search(rb'name="withFeedback"\r\n\r\ntrue', sent[0])


def test_labels_of_images_have_their_thresholds(console, live):
    """A model with several labels an image has a row with its threshold for each label."""
    studio = live.studio
    console.enter(studio.caller, f"model/vision/{studio.tagger}")
    table = console.page.get_by_role("region", name="Threshold for a target")
    expect(table.get_by_role("rowheader")).to_have_text(["circle", "square"])


def test_calibration_and_card_are_shown(console, owner, model):
    """The page shows the calibration chart and the limits of the model card."""
    console.enter(owner, f"model/language/{model}")
    page = console.page
    card = owner.get(f"/v2/language/models/{model}/card").ok()
    page.get_by_text("Full model card").click()
    expect(page.get_by_role("paragraph").get_by_text(card["limits"])).to_be_visible()
    evaluation = owner.get(f"/v2/language/models/{model}/evaluation", count=1).ok()
    bins = [one for one in evaluation["reliability"] if one["count"]]
    expect(page.locator(".reliability circle")).to_have_count(len(bins))


def test_headline_is_cross_validated_if_few_were_held_out(console, owner, model):
    """The first figure is that of all examples, with its interval, not of a few held-out ones."""
    console.enter(owner, f"model/language/{model}")
    card = owner.get(f"/v2/language/models/{model}/card").ok()
    fold, count = card["metrics"]["foldAccuracy"], card["trainedOn"]["examples"]
    headline = console.page.locator(".headline")
    expect(headline).to_contain_text(f"{round(fold['value'] * count)} of {count} right")
    expect(headline).to_contain_text(f"between {fold['low'] * 100:.0f}")
    expect(console.page.get_by_text("Cross-validated")).to_be_visible()


def test_headline_counts_what_was_held_out(console, owner, model):
    """With enough held-out examples the first figure counts those that were right."""
    path = f"/v2/language/models/{model}"
    metrics, card = owner.get(path).ok(), owner.get(f"{path}/card").ok()
    metrics["metricsData"]["confusionMatrix"] = [[30, 2], [1, 27]]
    card["metrics"]["testAccuracy"] = {"value": 57 / 60, "low": 0.86, "high": 0.98}
    console.page.route(f"**{path}", lambda route: route.fulfill(json=metrics))
    console.page.route(f"**{path}/card", lambda route: route.fulfill(json=card))
    console.enter(owner, f"model/language/{model}")
    expect(console.page.locator(".headline")).to_contain_text("57 of 60 right")


def test_multi_label_card_shows_thresholds(console, owner, model):
    """A card of a multi-label model lists threshold and accuracy of each label, the worst first."""
    path = f"/v2/language/models/{model}"
    card = owner.get(f"{path}/card").ok()
    card["metrics"] = {
        "testAccuracies": {
            "cat": {"value": 0.9, "low": 0.7, "high": 0.97},
            "dog": {"value": 0.8, "low": 0.6, "high": 0.9},
        }
    }
    card["engine"]["thresholds"] = {"cat": 0.4321}
    console.page.route(f"**{path}/card", lambda route: route.fulfill(json=card))
    console.enter(owner, f"model/language/{model}")
    table = console.page.get_by_role("region", name="Labels of the card")
    rows = table.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("dog")
    expect(rows.nth(1)).to_contain_text("None")
    expect(rows.nth(2)).to_contain_text("0.432")


def test_two_models_are_compared(console, newcomer):
    """Two selected models are compared by accuracy and recall."""
    caller, page = newcomer(), console.page
    dataset = caller.upload(SHOP, name="shop.csv").ok()
    for name in ("first", "second"):
        model = caller.train(dataset["id"], name=name).ok()["modelId"]
        assert caller.trained(model)["status"] == "SUCCEEDED"
    console.enter(caller, "models")
    page.get_by_label("Select first").check()
    page.get_by_label("Select second").check()
    page.get_by_role("button", name="Compare two").click()
    row = page.get_by_role("row", name="Accuracy")
    expect(row.get_by_role("cell")).to_have_count(3)
    expect(page.get_by_role("row", name="delivery: recall")).to_be_visible()


def test_a_version_is_served_again(console, live):
    """After a retraining the versions are listed; one click serves the former one again."""
    caller, page = live.studio.caller, console.page
    asked = {"name": "taken back", "datasetId": live.studio.signs["id"], "epochs": 2}
    model = caller.json("POST", "/v2/vision/train", asked).ok()["modelId"]
    training = f"/v2/vision/train/{model}"
    assert caller.wait(training, "status", "QUEUED", "RUNNING")["status"] == "SUCCEEDED"
    caller.json("POST", "/v2/vision/retrain", {"modelId": model, "epochs": 2}).ok()
    assert caller.wait(training, "status", "QUEUED", "RUNNING")["status"] == "SUCCEEDED"

    console.enter(caller, f"model/vision/{model}")
    page.get_by_role("heading", name="Versions").click()
    page.get_by_role("button", name="Serve 1").click()

    expect(page.get_by_role("button", name="Serve 2")).to_be_visible()
    served = {
        one["version"]: one["isServed"]
        for one in caller.get(f"/v2/vision/models/{model}/versions").ok()["data"]
    }
    assert served == {1: True, 2: False}
