"""Tests of bad networks, several tabs, wrong clocks and files that are too large."""

from __future__ import annotations

import base64
import io
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.console.test_session import two_labels
from tests.browser.console.test_story import WATCH

SLOW = {"offline": False, "latency": 600, "downloadThroughput": 50_000, "uploadThroughput": 20_000}
"""For Network.emulateNetworkConditions: milliseconds, and bytes per second."""
MOST_WAIT_MS = 100
FILES = 100_001
HUGE = """() => {
  const file = new File(['x'], 'huge.zip');
  Object.defineProperty(file, 'size', { value: 2 ** 31 + 1 });
  window.reads = 0;
  for (const name of ['arrayBuffer', 'text', 'stream', 'slice']) {
    const read = Blob.prototype[name];
    Blob.prototype[name] = function (...given) { window.reads++; return read.apply(this, given); };
  }
  const event = new Event('drop', { bubbles: true, cancelable: true });
  event.dataTransfer = { items: [], files: [file] };
  document.querySelector('.drop').dispatchEvent(event);
}"""
CROWD = """count => {
  const one = new File(['x'], 'a.png');
  const file = (name) => ({ isFile: true, fullPath: `/crowd/${name}`, file: (done) => done(one) });
  let given = 0;
  const readEntries = (done) => {
    const length = Math.min(100, count - given);
    const part = Array.from({ length }, (_, index) => file(`${given + index}.png`));
    given += part.length;
    setTimeout(() => done(part));
  };
  const folder = { isDirectory: true, createReader: () => ({ readEntries }) };
  const event = new Event('drop', { bubbles: true, cancelable: true });
  event.dataTransfer = { items: [{ webkitGetAsEntry: () => folder }], files: [] };
  document.querySelector('.drop').dispatchEvent(event);
}"""


@pytest.fixture
def few(newcomer):
    """An account and its dataset of twenty texts."""
    caller = newcomer()
    return caller, caller.upload(two_labels(20)).ok()


def labelled(caller, dataset) -> list[str]:
    """Return the labels of all texts, in the order of the texts."""
    path = f"/v2/language/datasets/{dataset['id']}/browse"
    found = caller.get(path, count=100).ok()["data"]
    found.sort(key=lambda one: int(one["name"].rpartition(" ")[2]))
    return [one["label"]["name"] for one in found]


def open_examples(console, caller, dataset) -> None:
    """Open the examples of a text dataset."""
    console.enter(caller, f"dataset/language/{dataset['id']}")
    console.page.wait_for_selector(".item .text")


def sign_in_with_key(console, email: str) -> None:
    """Sign in with the key that all test accounts share."""
    page = console.page
    page.goto(f"{console.live.url}/console")
    page.get_by_label("Account email").fill(email)
    key = {"name": "key.pem", "mimeType": "text/plain", "buffer": console.live.pem.encode()}
    page.get_by_label("Key file").set_input_files(key)
    page.get_by_role("button", name="Sign in").click()


def test_slow_network_does_not_delay_labelling(console, few):
    """Labelling keeps up with the keyboard while calls take a second; all labels arrive."""
    caller, dataset = few
    open_examples(console, caller, dataset)
    page = console.page
    inspector = page.context.new_cdp_session(page)
    inspector.send("Network.enable")
    inspector.send("Network.emulateNetworkConditions", SLOW)
    page.evaluate(WATCH)
    console.press(*["1"] * 20)
    waits = page.evaluate("window.waits")
    page.evaluate("location.hash = '#/usage'")
    expect(page.get_by_text("Loading").first).to_be_visible()
    expect(page.get_by_text("Predictions this month")).to_be_visible()

    assert len(waits) >= 19  # the last key finds no next example
    assert sorted(waits)[-2] <= MOST_WAIT_MS, waits  # one may be another program's
    assert len(set(labelled(caller, dataset))) == 1


def test_labels_of_a_lost_network_arrive_when_it_is_back(console, few):
    """Labels given while the service is unreachable are retried, with a banner meanwhile."""
    caller, dataset = few
    open_examples(console, caller, dataset)
    page = console.page
    page.context.set_offline(True)
    console.press(*["1"] * 20)
    expect(page.get_by_text("The service is not responding")).to_be_visible()
    assert len(set(labelled(caller, dataset))) == 2
    page.context.set_offline(False)
    expect(page.get_by_text("Saved")).to_be_visible()

    assert len(set(labelled(caller, dataset))) == 1
    expect(page.get_by_text("The service is not responding")).to_be_hidden()
    console.errors.clear()  # the browser reports failed calls


def test_failed_upload_is_reported_and_retried(console, newcomer, tmp_path):
    """A large upload whose connection breaks is retried with one click and stored once."""
    caller, page = newcomer(), console.page
    file = tmp_path / "many.csv"
    file.write_text("".join(f"text {'word ' * 20}{i},label {i % 5}\n" for i in range(42_000)))
    lost = iter([True])

    def break_once(route) -> None:
        if route.request.method == "POST" and next(lost, False):
            route.abort("connectionreset")
        else:
            route.continue_()

    page.route(f"{console.bucket}**", break_once)
    console.enter(caller, "upload")
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_role("alert")).to_contain_text("upload failed")
    page.get_by_role("button", name="Try again").click()
    page.get_by_role("button", name="Create the dataset with 42,000 examples").click()
    page.wait_for_selector(".item .text", timeout=120_000)

    assert len(caller.get("/v2/language/datasets").ok()["data"]) == 1
    console.errors.clear()  # the browser reports the broken connection


def test_key_of_a_closed_account_is_reported(console, live):
    """Signing in to a closed account names that as a possible cause."""
    live.caller("closed")
    live.administrate(lambda service: service.close("closed@example.test"))
    sign_in_with_key(console, "closed@example.test")
    expect(console.page.get_by_role("alert")).to_contain_text("closed account")
    console.errors.clear()  # the browser reports the refused call


def test_closing_an_account_ends_its_session(console, live, newcomer):
    """When an account is closed, the next call ends its session and asks to sign in."""
    live.caller("leaving")
    sign_in_with_key(console, "leaving@example.test")
    expect(console.page.get_by_text("Welcome")).to_be_visible()
    live.administrate(lambda service: service.close("leaving@example.test"))
    console.go("models")
    expect(console.page.get_by_text("Your token has expired")).to_be_visible()
    console.errors.clear()  # the browser reports the refused calls


@pytest.mark.parametrize(("hours", "said"), [(-3, "180 minutes behind"), (3, "")])
def test_wrong_clock_is_reported(console, live, hours, said):
    """A clock that is behind is reported in minutes; one that is ahead does no harm."""
    name = f"clock{hours + 3}"
    live.caller(name)
    shift = f"const now = Date.now; Date.now = () => now() + {hours * 3_600_000};"
    console.page.add_init_script(shift)
    sign_in_with_key(console, f"{name}@example.test")
    if said:
        expect(console.page.get_by_role("alert")).to_contain_text(said)
    else:
        expect(console.page.get_by_text("Welcome")).to_be_visible()
    console.errors.clear()  # the browser reports the refused call


def test_two_tabs_label_at_once(console, few):
    """The labels of both tabs are saved, in whatever order."""
    caller, dataset = few
    open_examples(console, caller, dataset)
    other = console.page.context.new_page()
    console.follow_link(caller, other)
    other.wait_for_selector("nav")
    other.evaluate(f"location.hash = '#/dataset/language/{dataset['id']}'")
    other.wait_for_selector(".item .text")
    other.keyboard.press("End")
    for done in range(10):  # from the start in one tab, from the end in the other
        console.press("2")
        for key in ("1", "k", "k") if done else ("1", "k"):
            other.keyboard.press(key)
    console.page.wait_for_selector("text=Saved")
    other.wait_for_selector("text=Saved")
    first = [one["id"] for one in dataset["labelSummary"]["labels"]]

    counts = {
        one["id"]: one["numExamples"]
        for one in caller.get(f"/v2/language/datasets/{dataset['id']}").ok()["labelSummary"][
            "labels"
        ]
    }
    assert [counts[one] for one in first] == [10, 10]
    moved = caller.get(f"/v2/language/datasets/{dataset['id']}/corrections").ok()["data"]
    assert sum(one["moved"] for one in moved) == 20


def test_removed_example_does_not_block_other_corrections(console, few):
    """Corrections next to that of a removed example are saved; that one is reported."""
    caller, dataset = few
    open_examples(console, caller, dataset)
    path = f"/v2/language/datasets/{dataset['id']}"
    found = caller.get(f"{path}/browse", count=100).ok()["data"]
    caller.delete(f"{path}/examples/{found[4]['id']}").ok()
    console.press(*["2"] * 10)
    expect(console.page.get_by_role("alert")).to_contain_text(str(found[4]["id"]))
    console.page.wait_for_selector("text=Saved")

    after = caller.get(f"{path}/browse", count=100).ok()["data"]
    second = dataset["labelSummary"]["labels"][1]["name"]
    assert {one["label"]["name"] for one in after} == {second}
    assert len(after) == 19
    console.errors.clear()  # the browser reports the refused calls


def test_dropped_file_of_two_gigabytes_is_not_read(console, newcomer):
    """The refusal names the limit, and no byte is read or sent."""
    console.enter(newcomer(), "upload")
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.url))
    console.page.evaluate(HUGE)
    expect(console.page.get_by_role("alert")).to_contain_text("2 GB")
    assert console.page.evaluate("window.reads") == 0
    assert sent == []


def test_dropped_folder_of_too_many_files_is_refused(console, newcomer):
    """A folder of more than 100,000 files is refused with the limit before any is read."""
    console.enter(newcomer(), "upload")
    console.page.evaluate(CROWD, FILES)
    expect(console.page.get_by_role("alert")).to_contain_text("100,000 files", timeout=60_000)


def test_folder_of_very_many_files_is_one_archive(console, newcomer, tmp_path):
    """More than 65,535 files are packed as ZIP64."""
    console.enter(newcomer(), "upload")
    packed = console.page.evaluate(
        """async count => {
          const { zipFiles } = await import('./console/folder.js');
          const one = new Uint8Array([120]).buffer, arrayBuffer = async () => one;
          const files = Array.from({ length: count }, (_, index) => (
            { file: { name: `${index}.png`, size: 1, arrayBuffer }, path: `crowd/${index}.png` }));
          const reader = new FileReader();
          reader.readAsDataURL(await zipFiles(files));
          await new Promise((done) => { reader.onload = done; });
          return reader.result.split(',')[1];
        }""",
        66_000,
    )
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(packed)))
    assert len(archive.namelist()) == 66_000
    assert archive.read("crowd/65999.png") == b"x"
