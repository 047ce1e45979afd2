"""API keys in the client: where they come from, and that nothing shows them."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from presage import AuthenticationError, ConfigurationError, PermissionDeniedError, Presage, records
from presage._records import decode
from presage._settings import Login, credentials_from_env, load_login, save_login

SECRET = "pk_" + "aB3_-" * 8 + "xyz"
OTHER = "pk_" + "B" * 43
RECORD: dict[str, Any] = {"id": "K", "name": "shop", "scope": "predict", "prefix": SECRET[:8]}
RECORD |= {"createdAt": "2026-11-21T09:30:00.000+0000", "expiresAt": None, "lastUsedAt": None}
RECORD |= {"object": "key"}


@pytest.fixture
def sent() -> list[httpx.Request]:
    """The calls that were made."""
    return []


@pytest.fixture
def client(sent: list[httpx.Request]) -> Iterator[Presage]:
    """A client with an API key, of a service that knows one key."""

    def answer(request: httpx.Request) -> httpx.Response:
        """Answer a call."""
        sent.append(request)
        if request.url.path.endswith("/models/foreign"):
            return httpx.Response(401, json={"message": f"{SECRET} is wrong", "code": "x"})
        if request.url.path.endswith("/models/narrow"):
            return httpx.Response(403, json={"message": "scope", "code": "insufficient_scope"})
        if request.method == "GET":
            return httpx.Response(200, json={"object": "list", "data": [RECORD]})
        return httpx.Response(200, json={**RECORD, "secret": OTHER})

    transport = httpx.MockTransport(answer)
    with Presage("http://service", api_key=SECRET, http={"transport": transport}) as made:
        yield made


def test_key_is_sent_with_each_call(client, sent):
    """Keys are created, listed and deleted with the documented calls."""
    end = datetime(2030, 1, 31, tzinfo=UTC)

    made = client.keys.create("shop", scope="predict", expires_at=end)
    assert (made.secret, made.prefix) == (OTHER, SECRET[:8])
    assert [key.id for key in client.keys.list()] == ["K"]
    assert client.keys.delete("K").name == "shop"

    calls = [(request.method, request.url.path) for request in sent]
    assert calls == [("POST", "/v2/keys"), ("GET", "/v2/keys"), ("DELETE", "/v2/keys/K")]
    assert {request.headers["authorization"] for request in sent} == {f"Bearer {SECRET}"}
    moment = datetime.fromisoformat(json.loads(sent[0].content)["expiresAt"])
    assert moment == end


def test_local_time_is_sent_with_its_offset(client, sent):
    """A datetime without a zone is the caller's local time."""
    client.keys.create("shop", expires_at=datetime.fromisoformat("2030-01-31"))

    assert datetime.fromisoformat(json.loads(sent[0].content)["expiresAt"]).tzinfo is not None


def test_errors_name_no_key(client):
    """A refused key, and a service that repeats it, are explained without the key."""
    with pytest.raises(AuthenticationError, match="wrong, revoked or expired") as refused:
        client.keys.delete("../language/models/foreign")
    assert "pk_… is wrong" in str(refused.value)
    assert SECRET not in f"{refused.value} {refused.value!r} {refused.value.message}"
    with pytest.raises(PermissionDeniedError):
        client.keys.delete("../language/models/narrow")


def test_key_is_never_part_of_a_url(client, sent):
    """A key that is passed in place of its id is refused before anything is sent."""
    with pytest.raises(ConfigurationError, match="Pass the id"):
        client.keys.delete(SECRET)

    assert sent == []


def test_texts_of_objects_show_no_key(client, caplog):
    """Neither credentials nor records nor log lines show a key."""
    caplog.set_level(logging.DEBUG)
    made = client.keys.create("shop")

    shown = f"{client.transport.credentials!r} {client!r} {made!r} {made} {[made]} {caplog.text}"

    assert "secret='pk_…'" in shown
    assert SECRET not in shown
    assert OTHER not in shown
    assert decode({**RECORD, "secret": OTHER}, records.ApiKey).secret == OTHER


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"api_key": ""}, "not valid"),
        ({"api_key": SECRET[:-1]}, "not valid"),
        ({"api_key": f"{SECRET}x"}, "not valid"),
        ({"api_key": SECRET, "token": "t"}, "one of"),
        ({"api_key": SECRET, "email": "a@b.example", "key": "k.pem"}, "one of"),
        ({"email": "a@b.example", "key": SECRET}, "as `api_key`"),
        ({"url": SECRET}, "must start with http"),
    ],
)
def test_wrong_arguments_are_explained_without_the_key(arguments, text):
    """Each error says what to pass; none shows what was passed."""
    with pytest.raises(ConfigurationError, match=text) as refused:
        Presage(**arguments)

    assert SECRET[3:20] not in str(refused.value)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """Environment with a login file, and files with keys."""
    (tmp_path / "key.txt").write_text(f"{SECRET}\r\n")
    (tmp_path / "other.txt").write_text(OTHER)
    return {"PRESAGE_LOGIN_FILE": str(tmp_path / "login.json")}


def test_environment_names_a_key_or_its_file(places, tmp_path):
    """A token wins over a key, a key over its file, and these over the login."""
    save_login(Login("http://one", "a@b.example", api_key_file=str(tmp_path / "other.txt")), places)
    found = []
    for added in (
        {},
        {"PRESAGE_API_KEY_FILE": str(tmp_path / "key.txt")},
        {"PRESAGE_API_KEY": f" {OTHER}\n"},
        {"PRESAGE_TOKEN": "t"},
    ):
        places |= added
        found.append(credentials_from_env(places).token)

    assert found == [OTHER, SECRET, OTHER, "t"]


def test_key_of_a_login_is_sent_to_its_service_only(places, tmp_path):
    """Another address gets no key, unless it is passed for it."""
    login = Login("http://one", "a@b.example", api_key_file=str(tmp_path / "key.txt"))
    save_login(login, places)

    assert credentials_from_env(places | {"PRESAGE_URL": "http://one/v2/"}).token == SECRET
    assert credentials_from_env(places | {"PRESAGE_URL": "http://two"}).token is None


def test_profiles_are_saved_next_to_the_default_login(places, tmp_path):
    """Each profile is read, replaced and removed alone; the file holds paths only."""
    default = Login("http://one", "a@b.example", "a.pem")
    work = Login("http://two", "w@b.example", api_key_file=str(tmp_path / "key.txt"))
    path = save_login(default, places)
    before = json.loads(path.read_text())
    save_login(work, places, "work")
    save_login(Login("http://three"), places, "spare")

    assert before == {"url": "http://one", "email": "a@b.example", "key_file": "a.pem"}
    assert (load_login(places), load_login(places, "work")) == (default, work)
    assert load_login(places | {"PRESAGE_PROFILE": "work"}) == work
    assert credentials_from_env(places | {"PRESAGE_TOKEN": "t"}, "work").token == SECRET
    assert SECRET not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    save_login(None, places)
    assert (load_login(places), load_login(places, "work")) == (Login(), work)
    with pytest.raises(ConfigurationError, match="its profiles are spare, work"):
        load_login(places, "home")
    save_login(None, places, "work")
    save_login(None, places, "spare")
    assert not path.exists()


@pytest.mark.parametrize("text", ["[]", "{", '{"profiles": []}', '{"email": "a"}', '{"url": 1}'])
def test_damaged_login_file_is_reported_and_can_be_replaced(places, text):
    """A damaged file is one error, and the next login replaces it."""
    path = Path(places["PRESAGE_LOGIN_FILE"])
    path.write_text(text)
    with pytest.raises(ConfigurationError, match="login"):
        load_login(places, None if "profiles" not in text else "work")

    save_login(Login("http://one", "a@b.example"), places)

    assert load_login(places).url == "http://one"


@pytest.mark.parametrize(
    ("content", "text"), [(None, "No such file"), (b"", "no API key"), (b"\xff\xfe", "no API key")]
)
def test_wrong_key_files_are_explained(places, tmp_path, content, text):
    """The error names the file, and what it must hold."""
    file = tmp_path / "wrong.txt"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigurationError, match=text) as refused:
        credentials_from_env({**places, "PRESAGE_API_KEY_FILE": str(file)})

    assert str(file) in str(refused.value)


def test_key_in_place_of_its_file_is_not_shown(places):
    """A key where a path belongs is a common mistake."""
    with pytest.raises(ConfigurationError) as refused:
        credentials_from_env({**places, "PRESAGE_API_KEY_FILE": SECRET})

    assert SECRET not in str(refused.value)
