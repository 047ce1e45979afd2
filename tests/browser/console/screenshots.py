"""Takes the screenshots of docs/console.md; run by `make console-pictures`, not by tests."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from chalicelib.web import console as console_files
from tests.browser.console.conftest import TRAINED_MS
from tests.flows.client import LANGUAGE

FOLDER = Path(__file__).parents[3] / "docs" / "images"
INVOICE = FOLDER.parent / "guides" / "invoice.png"
SIZE = {"width": 1200, "height": 800}


def shoot(console, name: str) -> None:
    """Save a screenshot."""
    console.page.wait_for_load_state("networkidle")
    console.page.screenshot(path=FOLDER / f"console_{name}.png", animations="disabled")


def test_model_screenshots(console, newcomer):
    """Welcome, the model of the sample, its flagged labels, and a prediction."""
    page = console.page
    page.set_viewport_size(SIZE)
    console.enter(newcomer())
    page.wait_for_selector("text=Welcome")
    shoot(console, "welcome")
    page.get_by_role("button", name="Start with the sample").click()
    page.wait_for_selector(".item .text")
    page.get_by_role("button", name="Train a model").click()
    page.wait_for_selector(".matrix", timeout=TRAINED_MS)
    page.mouse.move(0, 0)
    shoot(console, "model")
    model = page.url.rpartition("/")[2]
    page.get_by_role("link", name="flagged").click()
    page.wait_for_selector(".suggestion")
    page.keyboard.press("a")
    page.wait_for_selector("text=Saved")
    shoot(console, "corrections")
    console.go(f"try/language/{model}")
    page.locator("textarea").fill("The lamp arrived broken, can I get my money back?")
    page.get_by_role("button", name="Predict").click()
    page.get_by_role("button", name="Explain").click()
    page.wait_for_selector(".explanation")
    shoot(console, "try")


def half_of_the_sample() -> tuple[bytes, bytes]:
    """Return every other row of the sample with its label, and the texts of the others."""
    rows = list(csv.reader(io.StringIO(console_files.text_of(console_files.SAMPLE))))
    known, left = io.StringIO(), io.StringIO()
    csv.writer(known).writerows(rows[::2])
    csv.writer(left).writerows([text] for text, _ in rows[1::2])
    return known.getvalue().encode(), left.getvalue().encode()


def shoot_classified_file(console, texts: bytes) -> None:
    """Classify a file with the model of the page, and save a screenshot."""
    page = console.page
    page.get_by_role("link", name="Classify files").click()
    file = {"name": "new.csv", "mimeType": "text/csv", "buffer": b"Message\n" + texts}
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_role("button", name="Classify").click()
    page.get_by_role("link", name="Download").wait_for(timeout=TRAINED_MS)
    page.evaluate("document.querySelector('main .card').scrollIntoView()")
    shoot(console, "classify")
    console.errors.clear()  # validation refuses a file without labels, and shows its columns


def test_upload_and_label_next_screenshots(console, newcomer):
    """The preview of a file, its examples, a classified file, and active learning."""
    caller, page = newcomer(), console.page
    known, left = half_of_the_sample()
    page.set_viewport_size(SIZE)
    console.enter(caller, "upload")
    file = {"name": "messages.csv", "mimeType": "text/csv", "buffer": known + b",refund\n"}
    page.locator("input[type=file]").first.set_input_files(file)
    page.wait_for_selector("text=Preview")
    page.get_by_role("heading", name="Preview").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('main .card').scrollIntoView()")
    shoot(console, "upload")
    page.get_by_role("button", name="Create the dataset").click()
    page.wait_for_selector(".item .text")
    page.locator(".list").focus()
    console.press("j", "j")
    shoot(console, "browse")
    page.get_by_role("button", name="Train a model").click()
    page.wait_for_selector("text=Next steps", timeout=TRAINED_MS)
    shoot_classified_file(console, left)
    page.go_back()
    page.get_by_role("link", name="Label next").click()
    new = {"name": "new.csv", "mimeType": "text/csv", "buffer": left}
    page.locator("input[type=file]").set_input_files(new)
    page.get_by_role("button", name="Choose samples").click()
    page.wait_for_selector(".item .text", timeout=TRAINED_MS)
    console.press("a", "a", "a")
    page.wait_for_selector("text=Saved")
    shoot(console, "next")


def test_document_screenshots(console, newcomer):
    """An invoice and its content, in the dark theme."""
    page = console.page
    page.set_viewport_size(SIZE)
    page.emulate_media(color_scheme="dark")
    console.enter(newcomer(), "try/vision/OCRModel")
    page.locator("input[type=file]").set_input_files(INVOICE)
    page.get_by_role("button", name="Read").click()
    page.wait_for_selector(".found li", timeout=TRAINED_MS)
    page.locator(".document").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.document').scrollIntoView({ block: 'start' })")
    shoot(console, "document")


def test_other_screenshots(console, newcomer):
    """Sign-in, model comparison, usage and webhooks."""
    caller, page = newcomer(), console.page
    page.set_viewport_size(SIZE)
    page.goto(f"{console.live.url}/console")
    page.wait_for_selector("form")
    shoot(console, "sign_in")
    known, left = half_of_the_sample()
    whole = console_files.text_of(console_files.SAMPLE).encode()
    files = {"shop of half the messages": known, "shop of all messages": whole}
    models = []
    for name, content in files.items():
        dataset = caller.upload(content, name="messages.csv").ok()
        models.append(caller.train(dataset["id"], name=name).ok()["modelId"])
    assert [caller.trained(model)["status"] for model in models] == ["SUCCEEDED"] * 2
    names = (("modelId", models[0].encode()), ("name", b"new messages"), ("textColumn", b"1"))
    sent = [(name, value, None) for name, value in names]
    batch = caller.form("POST", f"{LANGUAGE}/batches", *sent, ("data", left, "new.csv")).ok()
    caller.wait(f"{LANGUAGE}/batches/{batch['id']}", "status", "QUEUED", "RUNNING")
    hook = {"url": console.live.tricks.url("/honest"), "events": ["batch.done", "quota.80"]}
    caller.json("POST", "/v2/webhooks", hook).ok()
    console.enter(caller, f"compare?a={models[0]}&b={models[1]}")
    page.get_by_role("row", name="Accuracy").wait_for()
    shoot(console, "compare")
    console.go("usage")
    page.get_by_role("row", name="new messages").wait_for()
    shoot(console, "usage")
    console.go("settings/webhooks")
    page.get_by_role("button", name="Send a test").click()
    page.get_by_role("row", name="webhook.test Delivered").wait_for()
    shoot(console, "webhooks")
