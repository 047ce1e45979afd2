"""What goes wrong: keys, tokens, the network, and names that somebody chose badly."""

from __future__ import annotations

import json
import time

import pytest
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from playwright.sync_api import expect

from chalicelib.formats.tokens.rsa_key import new_private_pem
from tests.live import JWT_BEARER

HOSTILE = (
    "<img src=x onerror=window.hit=1>",
    "<script>window.hit=1</script>",
    "\u202eright to left",
    "\U0001f984" * 50,
    "x" * 20_000,
    "{{constructor.constructor('window.hit=1')()}}",
)
KEPT = """async () => [localStorage.length, sessionStorage.length, document.cookie,
  (await indexedDB.databases()).length + (await caches.keys()).length]"""
LIFE_SECONDS = 20
"""Of a token that ends while somebody works; long enough to begin on a crowded machine."""
PLAIN = "text number {i}"


def keyed(live, name: str, form: PrivateFormat) -> bytes:
    """Make an account, and write its key in a form."""
    live.caller(name)
    key = load_pem_private_key(live.pem.encode(), None)
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


@pytest.mark.parametrize("form", ["PKCS8", "TraditionalOpenSSL"])
def test_key_file_signs_in(console, live, form):
    """A key in either form signs in, and is in no request."""
    pem = keyed(live, f"keyed{form.lower()}", getattr(PrivateFormat, form))
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.post_data or ""))
    console.page.goto(f"{live.url}/console")
    console.page.get_by_label("Email of the account").fill(f"keyed{form.lower()}@example.test")
    key_file = {"name": "key.pem", "mimeType": "application/x-pem-file", "buffer": pem}
    console.page.get_by_label("Key file").set_input_files(key_file)
    console.page.get_by_role("button", name="Sign in").click()
    expect(console.page.get_by_text("Welcome")).to_be_visible()

    line = pem.decode().splitlines()[3]
    assert any("assertion" in body for body in sent)
    assert not any(line in body for body in sent)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("other.pem", new_private_pem().encode(), "another key"),
        (
            "public.pem",
            b"-----BEGIN PUBLIC KEY-----\nAA",
            "public half",
        ),
        ("notes.txt", b"nothing", "no private key"),
        ("cut.pem", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "damaged"),
    ],
)
def test_wrong_key_file_is_told(console, live, owner, name, content, said):
    """A file that is no key of the account is refused with what to do."""
    console.page.goto(f"{live.url}/console")
    console.page.get_by_label("Email of the account").fill("console@example.test")
    file = {"name": name, "mimeType": "text/plain", "buffer": content}
    console.page.get_by_label("Key file").set_input_files(file)
    console.page.get_by_role("button", name="Sign in").click()
    expect(console.page.get_by_role("alert")).to_contain_text(said)
    console.complaints.clear()  # the browser reports the refused call


def test_token_leaves_the_history(console, owner):
    """The link's token is neither in the address nor in the history, and a reload forgets it."""
    console.enter(owner)
    assert owner.token not in console.page.url
    console.page.go_back()
    assert owner.token not in console.page.url
    console.page.goto(f"{console.live.url}/console")
    expect(console.page.get_by_label("Email of the account")).to_be_visible()


def test_token_ends_in_the_middle(console, live, owner):
    """A token that ends asks for another; the page goes on where it was."""
    assertion = live.assertion(sub="console@example.test", exp=time.time() + LIFE_SECONDS)
    short = live.grant(grant_type=JWT_BEARER, assertion=assertion).ok()["access_token"]
    page = console.page
    page.goto(f"{live.url}/console#token={short}")
    expect(page.get_by_text("shop").first).to_be_visible()
    ended = page.get_by_text("Your token has ended")
    deadline = time.monotonic() + 3 * LIFE_SECONDS
    while not ended.is_visible():
        assert time.monotonic() < deadline
        for place in ("usage", "models"):
            with page.expect_response(f"{live.url}/v2/**"):
                page.evaluate("place => { location.hash = `#/${place}` }", place)
    page.get_by_role("button", name="Token").click()
    page.get_by_label("Token").fill(owner.token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("shop model")).to_be_visible()
    console.complaints.clear()  # the browser reports the 401


def test_service_goes_and_comes_back(console, owner):
    """While nothing answers that is said; when it answers again the page goes on by itself."""
    console.enter(owner)
    console.page.context.set_offline(True)
    console.page.evaluate("location.hash = '#/models'")
    expect(console.page.get_by_text("The service does not answer")).to_be_visible()
    console.page.context.set_offline(False)
    expect(console.page.get_by_text("shop model")).to_be_visible()
    expect(console.page.get_by_text("The service does not answer")).to_be_hidden()
    console.complaints.clear()  # the browser reports calls that reached nobody


@pytest.fixture
def hostile(live, newcomer):
    """An account where everything that can have a name has a hostile one."""
    caller, name = newcomer(), HOSTILE[0]
    lines = [json.dumps({"text": text, "label": name[:180]}) for text in HOSTILE]
    lines += [json.dumps({"text": PLAIN.format(i=i), "label": "plain"}) for i in range(6)]
    dataset = caller.upload("\n".join(lines).encode(), name="bad.jsonl").ok()["id"]
    caller.json("PUT", f"/v2/language/datasets/{dataset}", {"name": name}).ok()
    model = caller.train(dataset, name=name).ok()["modelId"]
    assert caller.trained(model)["status"] == "SUCCEEDED"
    sent = (("modelId", model.encode(), None), ("name", name.encode(), None))
    caller.form("POST", "/v2/language/batches", *sent, ("data", b"text\na\n", "a.csv")).ok()
    url = live.tricks.url("/honest")
    hook = {"url": url, "events": ["batch.done"], "description": name[:100]}
    caller.json("POST", "/v2/webhooks", hook).ok()
    return caller, dataset, model


def test_hostile_names_are_texts(console, hostile):
    """HTML, other directions, emoji and long words are shown as they are, and run nowhere."""
    caller, dataset, model = hostile
    page, base = console.page, f"dataset/language/{dataset}"
    console.enter(caller)
    expect(page.get_by_role("link", name=HOSTILE[0])).to_be_visible()
    tabs = [f"{base}/{tab}" for tab in ("examples", "labels", "models", "uploads", "export")]
    others = [f"compare?a={model}&b={model}", "models", "usage", "webhooks"]
    for place in (*tabs, f"model/language/{model}", f"next/language/{model}", *others):
        console.go(place)
        page.wait_for_load_state("networkidle")
        shown = page.locator("main").get_by_text(HOSTILE[0])
        expect(shown.first).to_be_visible()
        if place == tabs[0]:
            expect(page.locator(".item .text").get_by_text(HOSTILE[1])).to_be_visible()
            expect(page.locator(".item .text").get_by_text(HOSTILE[4])).to_have_count(1)
        assert console.overhang() == 0, place
    console.go(f"try/language/{model}")
    page.get_by_role("textbox", name="Text").fill("".join(HOSTILE[:4]))
    console.press("Enter")
    page.wait_for_selector(".bar")
    page.get_by_role("button", name="What decided?").click()
    expect(page.locator(".decided")).to_have_text("".join(HOSTILE[:4]))
    console.go("bring")
    file = {"name": f"{HOSTILE[0]}.csv", "mimeType": "text/csv", "buffer": b"a,b\nc,d\n"}
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.locator(".drop")).to_contain_text(HOSTILE[0])
    assert page.evaluate("window.hit === undefined && !document.querySelector('main img')")


def test_session_is_kept_nowhere(console, owner):
    """Neither token nor key lies in what the browser keeps; to sign out forgets them at once."""
    console.enter(owner)
    page = console.page
    assert page.evaluate(KEPT) == [0, 0, "", 0]
    assert page.context.cookies() == []
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Email of the account")).to_be_visible()
    page.evaluate("location.hash = '#/models'")
    expect(page.get_by_label("Email of the account")).to_be_visible()
    expect(page.get_by_text("shop model")).to_have_count(0)
    page.go_back()
    expect(page.get_by_label("Email of the account")).to_be_visible()


def test_large_file_goes_to_the_bucket(console, newcomer, tmp_path):
    """A file too large for a call is sent to the bucket by itself, checked, then kept."""
    caller = newcomer()
    file = tmp_path / "many.csv"
    file.write_text("".join(f"text {'word ' * 20}{i},label {i % 5}\n" for i in range(42_000)))
    assert file.stat().st_size > 4_000_000
    console.enter(caller, "bring")
    page = console.page
    page.locator("input[type=file]").first.set_input_files(file)
    page.wait_for_selector("text=This is what was understood")
    page.get_by_role("button", name="Keep 42,000 examples").click()
    page.wait_for_selector(".item .text", timeout=120_000)
    page.locator(".list").focus()
    page.keyboard.press("End")
    expect(page.locator(".item.present")).to_contain_text("label 4")
