"""Uploads, exports and the console by TLS through Caddy and nginx with the shipped files."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest

from tests.flows import TWO_VIEWS_APP
from tests.flows.client import VISION, encode_multipart
from tests.flows.world import TOKEN, World, assertion
from tests.local_stack import LocalStack
from tests.pictures import draw, make_zip
from tests.proxies.running import CADDYFILE, HOST, Caddy, Nginx, Proxy, SecureClient, program

UPLOAD_BYTES = 5_000_000


@pytest.fixture(scope="module")
def world(closed_network: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Accounts of a stack that is called by the host name of the proxies."""
    environment = {
        "PRESAGE_PUBLIC_URL": f"https://{HOST}",
        "PRESAGE_TRUSTED_PROXIES": "127.0.0.1",
        "PRESAGE_SWEEP_SECONDS": "1",
    }
    with LocalStack(TWO_VIEWS_APP, environment=environment) as stack:
        made = World(stack, tmp_path_factory.mktemp("world"))
        yield made
        made.close()


@pytest.fixture(scope="module", params=[Caddy, Nginx])
def proxy(
    request: pytest.FixtureRequest, world: World, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    """A running proxy in front of the stack."""
    folder = tmp_path_factory.mktemp("proxy")
    with request.param(folder, urlsplit(world.stack.url).netloc) as running:
        yield running


def sign_in(proxy: Proxy, world: World) -> SecureClient:
    """Get a token through the proxy, with an assertion for the public token endpoint."""
    caller = SecureClient(proxy)
    email = world.caller("GOLD", example_calls=1000).email
    signed = assertion(email, world.private_pem, aud=f"https://{HOST}{TOKEN}")
    grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    caller.token = caller.form(TOKEN, {"grant_type": grant, "assertion": signed}).ok["access_token"]
    return caller


def test_upload_and_export_pass(proxy: Proxy, world: World) -> None:
    """A file of 5 MB arrives by form, its pictures show, and its export downloads whole."""
    caller = sign_in(proxy, world)
    noise = random.Random(5).randbytes(UPLOAD_BYTES)
    content = make_zip({"cat/1.png": draw("circle"), "dog/2.png": draw("square"), "x.bin": noise})
    form = caller.json("POST", "/v2/uploads", {"name": "pets.zip"}).ok
    assert form["url"].startswith(f"https://{HOST}/storage/")
    kind, body = encode_multipart(form["fields"].items(), {"file": ("pets.zip", content)})

    sent = SecureClient(proxy).send(
        "POST", urlsplit(form["url"]).path, body, {"Content-Type": kind}
    )

    assert sent.status == 204, sent.body
    vision = caller.vision()
    made = vision.json("POST", f"{VISION}/datasets/upload/sync", {"path": form["path"]}).ok
    assert made["totalExamples"] == 2
    place = f"{VISION}/datasets/{made['id']}"
    picture = caller.fetch(vision.get(f"{place}/examples").ok["data"][0]["location"])
    export = vision.json("POST", f"{place}/exports", {"format": "zip"}).ok
    path = f"{place}/exports/{export['id']}"
    ended = vision.wait(path, lambda found: found["status"] in ("SUCCEEDED", "FAILED"), 300)[-1]
    zipped = caller.fetch(ended["url"])
    assert (picture.status, zipped.status) == (200, 200)
    assert zipped.body.startswith(b"PK")
    for answer in (picture, zipped):
        assert len(answer.body) == int(answer.headers["content-length"])
        assert answer.headers["content-disposition"].startswith("attachment")


def test_upload_in_the_call_passes(proxy: Proxy, world: World) -> None:
    """A file of 5 MB in the call itself is not refused by a limit of the proxy."""
    vision = sign_in(proxy, world).vision()
    noise = random.Random(6).randbytes(UPLOAD_BYTES)
    content = make_zip({"cat/1.png": draw("circle"), "dog/2.png": draw("square"), "x.bin": noise})

    made = vision.upload(content, "pets.zip", "upload/sync")

    assert made["totalExamples"] == 2


def test_console_opens(proxy: Proxy, world: World) -> None:
    """The console's page and every script and style that it names come through, and so do calls."""
    caller = SecureClient(proxy)
    page = caller.fetch(f"https://{HOST}/console")
    assert page.status == 200, page.body
    named = sorted(set(re.findall(r'(?:src|href)="([^":#]+\.(?:js|css))"', page.body.decode())))
    assert named
    for name in named:
        assert caller.fetch(urljoin(f"https://{HOST}/console", name)).status == 200, name
    assert sign_in(proxy, world).get("/v2/apiusage").status == 200


def test_another_host_is_refused(proxy: Proxy) -> None:
    """The proxy passes the Host header on, so the service refuses a foreign one."""
    client = SecureClient(proxy)

    forged = client.send("GET", "/v2/health", headers={"X-Forwarded-Host": "attacker.example"})
    foreign = client.send("GET", "/v2/health", headers={"Host": "attacker.example"})

    assert forged.status == 200
    # Caddy answers requests for hosts that it does not serve itself, with an empty page.
    assert foreign.status == 421 or foreign.body == b""


def test_shipped_caddyfile_is_valid() -> None:
    """Caddy reads the file as shipped, with its own formatting."""
    for command in (("validate", "--adapter", "caddyfile", "--config"), ("fmt", "--diff")):
        read = subprocess.run(
            (program("caddy"), *command, str(CADDYFILE)), capture_output=True, text=True
        )
        assert read.returncode == 0, read.stderr
        assert not re.findall(r"^[+-]", read.stdout, re.MULTILINE), read.stdout
