"""A running stack for all tests over real HTTP, with accounts, callers and a trained model.

Started at the first use, stopped when the test run ends; see `shared`.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

import pytest

from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.accounts.account import Account
from chalicelib.formats.tokens.rsa_key import new_private_pem
from chalicelib.services.accounts.accounts import AccountService
from tests.administration import Administration, public_half, sign
from tests.flows import TWO_VIEWS_APP
from tests.local_stack import LocalStack
from tests.studio import Studio
from tests.tricks import Tricks

TIMEOUT_SECONDS = 29.0
"""Longest wait for any answer, the gateway's limit; whatever takes longer counts as a hang."""
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"
UPLOAD = "/v2/language/datasets/upload"
SYNC = "/v2/language/datasets/upload/sync"
TRAIN = "/v2/language/train"
INTENT = "/v2/language/intent"
SENTIMENT = "/v2/language/sentiment"
SHOP = "".join(
    f"where is parcel number {i},delivery\nplease give my money back {i},refund\n" for i in range(6)
).encode()

Part = tuple[str, bytes, str | None]


@dataclass(frozen=True)
class Answer:
    """An HTTP response."""

    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes

    @cached_property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self.json["message"])

    def ok(self) -> Any:
        """Return the record of a successful response."""
        assert self.status == 200, self
        return self.json

    def refused(self, status: int, *words: str) -> str:
        """Check that the response is an error in the service's form that contains the words."""
        assert self.status == status, self
        assert self.headers["content-type"] == "application/json"
        assert list(self.json)[:2] == ["message", "code"]
        assert set(self.json) <= {"message", "code", "detail"}
        said = f"{self.message} {self.json.get('detail', '')}"
        missing = [word for word in words if word not in said]
        assert not missing, f"{missing} not in: {said}"
        return str(self.json["code"])


@dataclass(frozen=True)
class Caller:
    """Calls the service with the token of one account."""

    url: str
    token: str
    account_id: str = ""
    seconds: float = TIMEOUT_SECONDS
    """Longest wait for an answer."""

    def __call__(
        self,
        method: str,
        path: str,
        body: bytes | Iterable[bytes] | None = None,
        content_type: str | None = None,
        **headers: str,
    ) -> Answer:
        """Send one request and return its response, within the time limit."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if content_type is not None:
            sent["Content-Type"] = content_type
        connection = http.client.HTTPConnection(
            self.url.removeprefix("http://"), timeout=self.seconds
        )
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, names, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **query: object) -> Answer:
        """Send a GET request."""
        return self("GET", f"{path}?{urlencode(query)}" if query else path)

    def delete(self, path: str) -> Answer:
        """Send a DELETE request."""
        return self("DELETE", path)

    def json(self, method: str, path: str, fields: object) -> Answer:
        """Send a JSON body."""
        return self(method, path, json.dumps(fields).encode(), "application/json")

    def form(self, method: str, path: str, *parts: Part) -> Answer:
        """Send parts (name, content, file name) as multipart/form-data."""
        return self(method, path, multipart(*parts), "multipart/form-data; boundary=B")

    def fields(self, method: str, path: str, /, **values: object) -> Answer:
        """Send scalars as multipart/form-data."""
        return self.form(method, path, *((n, str(v).encode(), None) for n, v in values.items()))

    def upload(
        self,
        content: bytes,
        dataset_type: str = "text-intent",
        name: str = "bad.csv",
        path: str = SYNC,
        **more: str,
    ) -> Answer:
        """Upload a file as a dataset; by default, wait until it has been read."""
        scalars = {"type": dataset_type, **more}
        parts = [(key, value.encode(), None) for key, value in scalars.items()]
        return self.form("POST", path, *parts, ("data", content, name))

    def train(self, dataset_id: int, **more: object) -> Answer:
        """Request a training."""
        return self.json("POST", TRAIN, {"name": "model", "datasetId": dataset_id, **more})

    def wait(self, path: str, member: str, *busy: str, seconds: float = 240) -> dict[str, Any]:
        """Read a record until a member has none of the values."""
        deadline = time.monotonic() + seconds
        while (record := self.get(path).ok())[member] in busy:
            assert time.monotonic() < deadline, record
            time.sleep(0.1)
        return dict(record)

    def trained(self, model_id: str) -> dict[str, Any]:
        """Wait until a training has ended."""
        return self.wait(f"{TRAIN}/{model_id}", "status", "QUEUED", "RUNNING")

    def uploaded(self, dataset_id: int) -> dict[str, Any]:
        """Wait until an upload has ended."""
        return self.wait(f"/v2/language/datasets/{dataset_id}", "statusMsg", "UPLOADING")

    def delete_and_wait(self, path: str) -> dict[str, Any]:
        """Delete an object and wait until it is deleted."""
        deletion = self.delete(path).ok()
        busy = ("QUEUED", "RUNNING")
        return self.wait(f"/v2/language/deletion/{deletion['id']}", "status", *busy)


def multipart(*parts: Part) -> bytes:
    """Return a multipart body with the boundary B."""
    body = b""
    for name, content, file_name in parts:
        file_part = f'; filename="{file_name}"' if file_name is not None else ""
        head = f'--B\r\nContent-Disposition: form-data; name="{name}"{file_part}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return body + b"--B--\r\n"


class Live:
    """A running stack, and the data that tests share on it."""

    def __init__(self) -> None:
        self.tricks = Tricks()
        self.stack = LocalStack(
            TWO_VIEWS_APP, environment={"PRESAGE_DOWNLOAD_ALLOW": f"127.0.0.1:{self.tricks.port}"}
        )
        self.pem = new_private_pem()
        self.studio = Studio(self)
        self._url = ""

    @property
    def url(self) -> str:
        """Address of the service; the stack starts at the first use."""
        if not self._url:
            self.stack.start()
            self._url = self.stack.url
        return self._url

    @property
    def settings(self) -> Settings:
        """Settings that reach the data of the running stack."""
        assert self.url
        return self.stack.settings

    def stop(self) -> None:
        """Stop everything."""
        self.stack.stop()
        self.tricks.close()

    def container(self) -> Container:
        """Create services on the running stack's data, for work that no call can do."""
        return Container(self.settings)

    def caller(
        self, name: str, plan: str = "GOLD", example_calls: int | None = 1_000_000
    ) -> Caller:
        """Create an account and obtain a token for it."""
        url, email = self.url, f"{name}@example.test"
        account = self.administrate(lambda s: s.create(email, plan, "HEROKU", self.public_pem))
        if example_calls is not None:
            self.administrate(lambda s: s.set_example_calls(email, example_calls))
        return Caller(url, self.token(email), account.account.account_id)

    def administrate(self, work: Callable[[AccountService], Any]) -> Any:
        """Run an administrator's command."""
        return work(self._administration.accounts)

    @cached_property
    def _administration(self) -> Administration:
        return Administration(self.settings)

    def account(self, email: str) -> Account:
        """Read an account's row."""
        found = self.administrate(lambda service: service.find(email))
        assert found is not None
        return found

    def set_used(self, account_id: str, kind: str, used: int) -> None:
        """Set the counter of a month, as if that many calls had been made."""
        period = f"{kind}#{time.strftime('%Y-%m', time.gmtime())}"
        self._put("quotas", {"account_id": {"S": account_id}, "period": {"S": period}}, used=used)

    def set_dataset(self, caller: Caller, dataset_id: int, **numbers: int) -> None:
        """Set figures in a dataset's row, as if it had that much data."""
        key = {
            "owner": {"S": f"{caller.account_id}#language"},
            "dataset_id": {"N": str(dataset_id)},
        }
        self._put("datasets", key, **numbers)
        if "size_bytes" in numbers:
            account = {"account_id": {"S": caller.account_id}}
            self._put("accounts", account, stored_bytes=numbers["size_bytes"])

    def set_model(self, caller: Caller, model_id: str, **numbers: int) -> None:
        """Set figures in a model's row, as if it had had that many attempts."""
        key = {"account_id": {"S": caller.account_id}, "model_id": {"S": model_id}}
        self._put("models", key, **numbers)

    def _put(self, table: str, key: dict[str, Any], **numbers: int) -> None:
        """Set attributes of one row."""
        self.stack.client("dynamodb").update_item(
            TableName=f"{self.stack.settings.name}-{table}",
            Key=key,
            UpdateExpression="SET " + ", ".join(f"{name} = :{name}" for name in numbers),
            ExpressionAttributeValues={f":{n}": {"N": str(v)} for n, v in numbers.items()},
        )

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the workers, so that queued jobs do not start."""
        with self.stack.workers_paused():
            yield

    @property
    def public_pem(self) -> str:
        """The public half of every account's key."""
        return public_half(self.pem)

    def assertion(self, **claims: object) -> str:
        """Sign an assertion; claims that are None are left out."""
        usual = {"aud": AUDIENCE, "exp": time.time() + 3600}
        sent = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return sign(sent, self.pem)

    def grant(self, **fields: str) -> Answer:
        """Call the token endpoint."""
        body = urlencode(fields).encode()
        return Caller(self.url, "")(
            "POST", "/v2/oauth2/token", body, "application/x-www-form-urlencoded"
        )

    def token(self, email: str) -> str:
        """Obtain an access token."""
        answer = self.grant(grant_type=JWT_BEARER, assertion=self.assertion(sub=email))
        return str(answer.ok()["access_token"])

    @cached_property
    def owner(self) -> Caller:
        """The account whose dataset and models the tests share and must not change."""
        return self.caller("owner")

    @cached_property
    def stranger(self) -> Caller:
        """An account that has no data in common with the owner."""
        return self.caller("stranger")

    @cached_property
    def shop(self) -> dict[str, Any]:
        """The owner's dataset: two labels of six examples each."""
        return dict(self.owner.upload(SHOP, name="shop.csv").ok())

    @cached_property
    def model_id(self) -> str:
        """The owner's trained model."""
        training = self.owner.train(self.shop["id"], name="shop model").ok()
        done = self.owner.trained(training["modelId"])
        assert done["status"] == "SUCCEEDED", done
        return str(training["modelId"])

    @cached_property
    def pictures(self) -> dict[str, Any]:
        """The owner's dataset below /vision."""
        fields = {"name": "pictures", "labels": "cat,dog"}
        return dict(self.owner.json("POST", "/v2/vision/datasets", fields).ok())


def talk(url: str, *parts: bytes) -> Answer:
    """Send bytes as they are, in parts, and read until the server closes."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has answered and closed already
        received = b""
        while block := connection.recv(65536):
            received += block
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    status = int(first.split(" ")[1]) if first else 0
    return Answer(status, {name.lower(): value for name, _, value in pairs}, body)


_KEY = pytest.StashKey[Live]()


def shared(config: pytest.Config) -> Live:
    """Return the one running stack of this test run; it stops at the run's end."""
    if _KEY not in config.stash:
        config.stash[_KEY] = live = Live()
        config.add_cleanup(live.stop)
    return config.stash[_KEY]
