"""Tests of key files, tokens, lost connections and hostile names."""

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
"""Lifetime of a token that expires during a test; long enough to start on a busy machine."""
PLAIN = "text number {i}"


def create_account(live, name: str, form: PrivateFormat) -> bytes:
    """Create an account, and return its key in a PEM format."""
    live.caller(name)
    key = load_pem_private_key(live.pem.encode(), None)
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


@pytest.mark.parametrize("form", ["PKCS8", "TraditionalOpenSSL"])
def test_key_file_signs_in(console, live, form):
    """A key in either format signs in, and no request contains it."""
    pem = create_account(live, f"keyed{form.lower()}", getattr(PrivateFormat, form))
    sent: list[str] = []
    console.page.on("request", lambda request: sent.append(request.post_data or ""))
    console.page.goto(f"{live.url}/console")
    console.page.get_by_label("Account email").fill(f"keyed{form.lower()}@example.test")
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
        ("other.pem", new_private_pem().encode(), "email or key is wrong"),
        (
            "public.pem",
            b"-----BEGIN PUBLIC KEY-----\nAA",
            "public key",
        ),
        ("notes.txt", b"nothing", "no private key"),
        ("cut.pem", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "damaged"),
    ],
)
def test_wrong_key_file_is_reported(console, live, owner, name, content, said):
    """A file that is not the key of the account is refused with a remedy."""
    console.page.goto(f"{live.url}/console")
    console.page.get_by_label("Account email").fill("console@example.test")
    file = {"name": name, "mimeType": "text/plain", "buffer": content}
    console.page.get_by_label("Key file").set_input_files(file)
    console.page.get_by_role("button", name="Sign in").click()
    expect(console.page.get_by_role("alert")).to_contain_text(said)
    console.errors.clear()  # the browser reports the refused call


def test_token_leaves_the_history(console, owner):
    """The link's token is removed from address and history, and another tab does not have it."""
    console.enter(owner)
    assert owner.token not in console.page.url
    console.page.go_back()
    assert owner.token not in console.page.url
    other = console.page.context.new_page()
    other.goto(f"{console.live.url}/console")
    expect(other.get_by_label("Account email")).to_be_visible()


def test_reload_keeps_the_session(console, live):
    """A reload keeps page and account; when the token ends, the key file is asked for again."""
    pem = create_account(live, "reloaded", PrivateFormat.PKCS8)
    page, email = console.page, "reloaded@example.test"
    page.goto(f"{live.url}/console")
    page.get_by_label("Account email").fill(email)
    key_file = {"name": "key.pem", "mimeType": "application/x-pem-file", "buffer": pem}
    page.get_by_label("Key file").set_input_files(key_file)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Welcome")).to_be_visible()
    console.go("usage")
    page.reload()
    expect(page.get_by_text("Predictions this month")).to_be_visible()
    expect(page.get_by_text(email)).to_be_visible()
    # The service refuses the token, as if it had expired.
    page.route("**/v2/apiusage", lambda route: route.fulfill(status=401, body="{}"), times=1)
    page.reload()
    expect(page.get_by_text("Your token has expired")).to_be_visible()
    expect(page.get_by_label("Account email")).to_have_value(email)
    assert page.evaluate("sessionStorage.length") == 0
    page.get_by_label("Key file").set_input_files(key_file)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Predictions this month")).to_be_visible()
    console.errors.clear()  # the browser reports the 401


def test_token_ends_in_the_middle(console, live, owner):
    """An expired token asks to sign in, and the page continues where it was."""
    assertion = live.assertion(sub="console@example.test", exp=time.time() + LIFE_SECONDS)
    short = live.grant(grant_type=JWT_BEARER, assertion=assertion).ok()["access_token"]
    page = console.page
    page.goto(f"{live.url}/console#token={short}")
    page.get_by_role("button", name="Yes", exact=True).click()
    expect(page.get_by_text("shop").first).to_be_visible()
    ended = page.get_by_text("Your token has expired")
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
    console.errors.clear()  # the browser reports the 401


def test_page_recovers_when_the_service_is_back(console, owner):
    """While the service is unreachable a banner says so; afterwards the page loads."""
    console.enter(owner)
    console.page.context.set_offline(True)
    console.page.evaluate("location.hash = '#/models'")
    expect(console.page.get_by_text("The service is not responding")).to_be_visible()
    console.page.context.set_offline(False)
    expect(console.page.get_by_text("shop model")).to_be_visible()
    expect(console.page.get_by_text("The service is not responding")).to_be_hidden()
    console.errors.clear()  # the browser reports failed calls


@pytest.fixture
def hostile(live, newcomer):
    """An account in which everything that has a name has a hostile one."""
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


def test_hostile_names_are_shown_as_text(console, hostile):
    """HTML, right-to-left text, emoji and long words are shown as text and never run."""
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
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".explanation")).to_have_text("".join(HOSTILE[:4]))
    console.go("upload")
    file = {"name": f"{HOSTILE[0]}.csv", "mimeType": "text/csv", "buffer": b"a,b\nc,d\n"}
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.locator(".drop")).to_contain_text(HOSTILE[0])
    assert page.evaluate("window.hit === undefined && !document.querySelector('main img')")


def test_only_the_token_is_stored(console, owner):
    """The tab stores the access token and its expiry and nothing else; signing out clears them."""
    console.enter(owner)
    page = console.page
    assert page.evaluate(KEPT) == [0, 1, "", 0]
    stored = json.loads(page.evaluate("sessionStorage.getItem(sessionStorage.key(0))"))
    assert stored.keys() == {"token", "expiresAt"}
    assert stored["token"] == owner.token
    assert page.context.cookies() == []
    page.get_by_role("button", name="Sign out").click()
    assert page.evaluate(KEPT) == [0, 0, "", 0]
    expect(page.get_by_label("Account email")).to_be_visible()
    page.evaluate("location.hash = '#/models'")
    expect(page.get_by_label("Account email")).to_be_visible()
    expect(page.get_by_text("shop model")).to_have_count(0)
    page.go_back()
    expect(page.get_by_label("Account email")).to_be_visible()


def test_large_file_goes_to_the_bucket(console, newcomer, tmp_path):
    """A file too large for one call is uploaded to the bucket, previewed and imported."""
    caller = newcomer()
    file = tmp_path / "many.csv"
    file.write_text("".join(f"text {'word ' * 20}{i},label {i % 5}\n" for i in range(42_000)))
    assert file.stat().st_size > 4_000_000
    console.enter(caller, "upload")
    page = console.page
    page.locator("input[type=file]").first.set_input_files(file)
    page.wait_for_selector("text=Preview")
    page.get_by_role("button", name="Create the dataset with 42,000 examples").click()
    page.wait_for_selector(".item .text", timeout=120_000)
    page.locator(".list").focus()
    page.keyboard.press("End")
    expect(page.locator(".item.present")).to_contain_text("label 4")
