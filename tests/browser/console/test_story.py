"""What a person does, by keyboard: from nothing to a model that was mended and trained again."""

from __future__ import annotations

import statistics

import pytest

from tests.browser.console.conftest import TRAINED_MS

MOST_ACTIONS = 40
MOST_WAIT_MS = 100
LABELLED = 100
FIRST_PAINT_MS = 500
VISITS = 5
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
WATCH = """() => {
  const list = document.querySelector('.list');
  window.waits = [];
  let pressed = [];
  addEventListener('keydown', () => pressed.push(performance.now()), true);
  new MutationObserver(() => requestAnimationFrame(() => {
    for (const began of pressed) window.waits.push(performance.now() - began);
    pressed = [];
  })).observe(list, { attributes: true, attributeFilter: ['aria-activedescendant'] });
}"""


def train_the_sample(console) -> None:
    """Take the sample, and train it."""
    console.wait_focus("Begin with the sample")
    console.press("Enter")
    console.page.wait_for_selector(".item .text")
    console.wait_focus("Train a model")
    console.press("Enter")
    console.wait_focus("doubtful")
    assert console.page.locator(".plot canvas").count() == 1


def mend_what_is_doubted(console) -> tuple[int, str]:
    """Accept every suggestion, and train again; return how many, and the model."""
    console.press("Enter")
    console.page.wait_for_selector(".suggestion")
    suspects = console.page.locator(".item").count()
    console.press(*"a" * suspects)
    console.wait_focus("Train again")
    model_id = console.page.url.partition("suspectsOf=")[2]
    console.press("Enter")
    console.page.wait_for_url("**/model/**")
    return suspects, model_id


def test_newcomer_mends_and_retrains_by_keyboard(console, newcomer):
    """From an empty account: sample, training, doubtful labels, training again, an answer."""
    caller, page = newcomer(), console.page
    console.enter(caller)
    train_the_sample(console)
    suspects, model_id = mend_what_is_doubted(console)
    page.wait_for_selector("text=What next?", timeout=TRAINED_MS)
    while "Try it" not in page.evaluate(
        "document.activeElement.closest('a, button')?.textContent ?? ''"
    ):
        console.press("Tab")
    console.press("Enter")
    page.wait_for_selector("textarea:focus")
    console.type("Where is my parcel?")
    console.press("Enter")
    page.wait_for_selector(".bar >> text=delivery-date")

    assert console.actions <= MOST_ACTIONS
    [dataset] = caller.get("/v2/language/datasets").ok()["data"]
    done = caller.get(f"/v2/language/datasets/{dataset['id']}/corrections").ok()["data"]
    assert sum(one["moved"] for one in done) == suspects
    assert caller.get(f"/v2/language/train/{model_id}").ok()["status"] == "SUCCEEDED"


def test_next_example_comes_at_once(console, newcomer):
    """A hundred texts get labels by keyboard without a wait, and arrive; undo takes back."""
    caller = newcomer()
    rows = "".join(f"text number {i},{'one' if i % 2 else 'two'}\n" for i in range(200))
    dataset = caller.upload(rows.encode()).ok()
    console.enter(caller, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")
    console.page.evaluate(WATCH)

    console.press(*["1", "2"] * (LABELLED // 2))
    console.page.wait_for_selector("text=Saved")

    waits = console.page.evaluate("window.waits")
    assert len(waits) == LABELLED
    assert max(waits) <= MOST_WAIT_MS, waits
    labels = caller.get(f"/v2/language/datasets/{dataset['id']}").ok()["labelSummary"]["labels"]
    assert {label["numExamples"] for label in labels} == {50, 150}  # every other one had it
    console.press("x")
    console.page.wait_for_selector("text=1 removed")
    console.press("u")
    console.page.wait_for_selector("text=200 examples")


@pytest.mark.parametrize("width", [390, 1280])
def test_page_is_painted_soon(console, owner, width):
    """Something is seen within half a second, also by who never was here: median of five."""
    console.enter(owner)  # the service has answered before
    paints = []
    for _ in range(VISITS):
        context = console.page.context.browser.new_context(viewport={"width": width, "height": 800})
        page = context.new_page()
        page.goto(f"{console.live.url}/console")
        page.wait_for_selector("form")
        paints.append(page.evaluate(PAINT))
        context.close()
    assert statistics.median(paints) <= FIRST_PAINT_MS, paints
