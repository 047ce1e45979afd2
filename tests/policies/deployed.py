"""The functions as they are deployed: each with separate clients, called by real events.

Every function has its own container and clients, as on Lambda, so that what one has looked up
helps no other. Queues and bucket bring the events.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from botocore.exceptions import ReadTimeoutError

import app as module
from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import month_key
from chalicelib.domain.models.model_files import LOADED
from chalicelib.formats.tokens.rsa_key import new_private_pem, public_pem_of
from chalicelib.routes import OPERATIONS
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws import tables
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.tables import TableRow
from chalicelib.stores.jobs.queues import queue_name
from chalicelib.stores.models import places
from chalicelib.workers import SWEEP_REST_SECONDS
from infra.template.functions import ANSWERING, FUNCTIONS, RECORDS
from infra.template.routing import function_of
from tests.api.conftest import Answer, make_event, multipart
from tests.conftest import MovableClock
from tests.held import held
from tests.policies.recorder import Recorder
from tests.tiny_ocr import TinyEngine

STATUSES = {
    f"{operation.name}_{family}" if family else operation.name: operation.status
    for operation in OPERATIONS
    for family, _ in operation.served_paths()
}
"""The status of each operation's answer when all goes well."""
AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"
SWEEP_EVENT = {
    **dict.fromkeys(("version", "account", "region", "detail", "source", "time", "id"), ""),
    "detail-type": "Scheduled Event",
    "resources": [],
}
PRIVATE_PEM = new_private_pem()
PUBLIC_PEM = public_pem_of(PRIVATE_PEM)


File = tuple[str, bytes, str]
"""Field, content and name."""


class Deployed:
    """Every function of the application, on the emulated AWS."""

    def __init__(
        self, settings: Settings, clock: MovableClock, recorder: Recorder, folder: Path
    ) -> None:
        self.settings, self.clock, self.recorder = settings, clock, recorder
        self._folder = folder
        # Calls of the administrator and of uploading clients are not recorded.
        self.outside = Clients(settings)
        self.queues = {
            source.queue.removeprefix("presage-"): source.name.rsplit(".")[-1]
            for source in module.app.event_sources
            if hasattr(source, "queue")
        }
        self._containers: dict[str, Container] = {}
        self.called: set[str] = set()
        """Names of operations that were answered as they are when all goes well."""
        self.counted: dict[str, dict[str, int]] = {}
        """AWS calls of some kinds of calls, by action."""

    def loaded(self, function: str) -> list[str]:
        """Name the parts of engines that a function has in its memory."""
        parts = self._containers[function].health.parts()
        return [part.name for part in parts if part.state == LOADED]

    def container(self, function: str) -> Container:
        """Switch to the process of a function, starting it at the first use."""
        if function not in self._containers:
            loads = next((f.loads for f in FUNCTIONS if f.name == function), ())
            disk = replace(self.settings, model_dir=str(self._folder / function), loads=loads)
            made = Container(disk, self.clock)
            if function != RECORDS:
                made.readers._engines["ppocr"] = TinyEngine()
            self.recorder.listen(function, made.stores.clients)
            self._containers[function] = made
            if function in ANSWERING:
                made.start()
        found = self._containers[function]
        clients = found.stores.clients
        # Rows are bound to one process's clients at a time.
        tables.bind(self.settings, clients.dynamodb, clients.dynamodb_once)
        module.app.container = found
        return found

    def new_account(self, email: str, plan: str) -> Account:
        """Make an account as the administrator does."""
        tables.bind(self.settings, self.outside.dynamodb, self.outside.dynamodb_once)
        tokens, keys = RefreshTokenStore(self.outside), ApiKeyStore(self.outside)
        service = AccountService(AccountStore(self.outside), tokens, keys, self.clock)
        made = service.create(email, plan, "HEROKU", PUBLIC_PEM).account
        service.set_example_calls(email, 1_000)
        return made

    def close_account(self, email: str) -> None:
        """Close an account as the administrator does, keeping nothing."""
        tables.bind(self.settings, self.outside.dynamodb, self.outside.dynamodb_once)
        tokens, keys = RefreshTokenStore(self.outside), ApiKeyStore(self.outside)
        service = AccountService(AccountStore(self.outside), tokens, keys, self.clock)
        service.close(email, 0)

    def assertion(self, email: str) -> str:
        """Sign an assertion for an account."""
        claims = {"sub": email, "aud": AUDIENCE, "exp": int(self.clock().timestamp()) + 3600}
        return jwt.encode(claims, PRIVATE_PEM, algorithm="RS256")

    def call(self, event: dict[str, Any]) -> Answer:
        """Let the gateway call the function of the route."""
        function = function_of(event["httpMethod"], event["resource"])
        self.container(function)
        result = module.app(event, context(29))
        answer = Answer(result["statusCode"], result["headers"], result["body"])
        self.recorder.answered(function, answer.text)
        name = module.app.routes[event["resource"]][event["httpMethod"]].view_name
        if answer.status == STATUSES[name]:
            self.called.add(name)
        return answer

    def count(self, kind: str, call: Callable[[], object]) -> None:
        """Count the AWS calls of a call that has been made before, by action."""
        call()
        self.recorder.actions.clear()
        call()
        self.counted[kind] = dict(Counter(self.recorder.actions))

    def take(self, short: str) -> list[str]:
        """Take the messages that a queue holds."""
        queues = held("sqs", self.settings.region).queues
        queue = queues[queue_name(self.settings, short)]
        taken = [message for message in queue._messages if not message.delayed]
        for message in taken:
            queue._messages.remove(message)
        return [message.body for message in taken]

    def work(self, seconds: float = 900) -> None:
        """Deliver the functions' messages until there are none."""
        while sum(self.work_once(short, seconds) for short in self.queues):
            pass

    def work_once(self, short: str, seconds: float = 900) -> int:
        """Deliver the messages of a function's queue; return how many there were."""
        bodies = self.take(short)
        for body in bodies:
            self.deliver(short, body, seconds)
        return len(bodies)

    def deliver(self, short: str, body: str, seconds: float = 900) -> None:
        """Deliver one message to a function."""
        name = self.queues[short]
        self.container(name)
        event = {"Records": [{"body": body, "receiptHandle": "h"}]}
        getattr(module, name)(event, context(seconds))

    def sweep(self) -> None:
        """Let the schedule call the sweep, as much later as it looks for."""
        self.clock.advance(minutes=16)
        self.container("sweep")
        module.sweep(SWEEP_EVENT, context(SWEEP_REST_SECONDS))

    def count_places(self) -> None:
        """Let the schedule call the sweep while two trainings are many."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(places, "EXACT_PLACES", 1)
            self.container("sweep")
            module.sweep(SWEEP_EVENT, context(SWEEP_REST_SECONDS))

    def lose(self, row: type[TableRow], hash_key: str, range_key: str | int) -> None:
        """Remove a row directly, as a concurrent deletion would."""
        schema = row._get_schema()["key_schema"]
        kinds = {"HASH": {"S": hash_key}, "RANGE": {"S": range_key}}
        if isinstance(range_key, int):
            kinds["RANGE"] = {"N": str(range_key)}
        self.outside.dynamodb.delete_item(
            TableName=tables.table_name(self.settings, row),
            Key={key["attribute_name"]: kinds[key["key_type"]] for key in _plain(schema)},
        )

    def fill(self, account_id: str) -> None:
        """Let an account seem to store as much as it may."""
        self.outside.bind_tables()
        most = self.settings.max_stored_bytes
        tables.AccountRow(account_id).update([tables.AccountRow.stored_bytes.set(most)])

    def use(self, account: Account, percent: int) -> None:
        """Let an account have used this percentage of a month's predictions, but the last one."""
        tables.bind(self.settings, self.outside.dynamodb, self.outside.dynamodb_once)
        used = max(0, math.ceil(account.predictions_per_month * percent / 100) - 1)
        row = tables.QuotaRow(account.account_id, f"predictions#{month_key(self.clock())}")
        row.update([tables.QuotaRow.used.set(used)])

    def lose_files(self, prefix: str) -> None:
        """Remove files directly, as a concurrent deletion would."""
        s3, bucket = self.outside.s3, self.settings.bucket
        for entry in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]:
            s3.delete_object(Bucket=bucket, Key=entry["Key"])

    def name_example(self, model_id: str) -> None:
        """Make a model's card name an example, as a report of likely label errors does."""
        page = self.outside.s3.list_objects_v2(
            Bucket=self.settings.bucket, Prefix=f"models/{model_id}/"
        )
        [key] = [e["Key"] for e in page["Contents"] if e["Key"].endswith("/card.json")]
        self.put(key, b'{"dataReport": {"suspects": [{"text": "book please"}]}}')

    def dataset_ids(self) -> list[str]:
        """List the ids of all datasets."""
        table = tables.table_name(self.settings, tables.DatasetRow)
        found = self.outside.dynamodb.scan(TableName=table)["Items"]
        return [item["dataset_id"]["N"] for item in found]

    def put(self, key: str, content: bytes) -> None:
        """Send a file straight to the bucket, as with a presigned form."""
        self.outside.s3.put_object(Bucket=self.settings.bucket, Key=key, Body=content)

    def read(self, prefix: str) -> bytes:
        """Return the only object below a prefix of the bucket."""
        found = self.outside.s3.list_objects_v2(Bucket=self.settings.bucket, Prefix=prefix)
        [entry] = found["Contents"]
        answer = self.outside.s3.get_object(Bucket=self.settings.bucket, Key=entry["Key"])
        content: bytes = answer["Body"].read()
        return content


class Caller:
    """One account's programs."""

    def __init__(self, deployed: Deployed, email: str, plan: str) -> None:
        self.deployed, self.email = deployed, email
        self.account = deployed.new_account(email, plan)
        self.token = ""
        self.hook = ""
        """Path of a webhook that receives every event."""
        self._until = deployed.clock()

    def sign_in(self) -> str:
        """Get new tokens; return the refresh token."""
        fields = {
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "assertion": self.deployed.assertion(self.email),
            "scope": "offline",
        }
        granted = self.form("POST", "/v2/oauth2/token", **fields)
        self.token = granted["access_token"]
        self._until = self.deployed.clock() + timedelta(seconds=granted["expires_in"])
        return str(granted["refresh_token"])

    @contextmanager
    def with_refreshed_token(self) -> Iterator[None]:
        """Call with a token that came from a refresh token, which is read with each call."""
        refresh = self.sign_in()
        before = self.token
        fields = {"grant_type": "refresh_token", "refresh_token": refresh}
        self.token = self.form("POST", "/v2/oauth2/token", **fields)["access_token"]
        yield
        self.token = before

    def send(
        self, method: str, url: str, body: bytes | None = None, kind: str | None = None
    ) -> Answer:
        """Send a request, with a token that is valid."""
        if self.deployed.clock() >= self._until and not url.startswith("/v2/oauth2"):
            self.sign_in()
        event = make_event(method, url, body, kind, authorization=f"Bearer {self.token}")
        return self.deployed.call(event)

    def with_key(self, secret: str, method: str, url: str) -> Answer:
        """Send a request without a body, with an API key."""
        return self.deployed.call(make_event(method, url, authorization=f"Bearer {secret}"))

    def ok(self, method: str, url: str, body: bytes | None = None, kind: str | None = None) -> Any:
        """Send a request that must succeed; return its record."""
        answer = self.send(method, url, body, kind)
        assert answer.status < 300, (method, url, answer)
        return answer.json if "json" in answer.headers.get("Content-Type", "") else answer.text

    def get(self, url: str) -> Any:
        """Ask for something."""
        return self.ok("GET", url)

    def json(self, method: str, url: str, /, **fields: Any) -> Any:
        """Send JSON."""
        return self.ok(method, url, json.dumps(fields).encode(), "application/json")

    def form(self, method: str, url: str, file: File | None = None, **fields: str) -> Any:
        """Send a form that must succeed, with a file perhaps; return its record."""
        answer = self.try_form(method, url, file, **fields)
        assert answer.status < 300, (method, url, answer)
        return answer.json

    def try_form(self, method: str, url: str, file: File | None = None, **fields: str) -> Answer:
        """Send a form, with a file perhaps."""
        parts = [(name, value.encode(), None) for name, value in fields.items()]
        body = multipart(*parts, *([file] if file else []))
        return self.send(method, url, body, 'multipart/form-data; boundary="B"')


def cut() -> None:
    """Break a call off, so that the caller cannot know whether it was done."""
    raise ReadTimeoutError(endpoint_url="https://aws")


def _plain(schema: list[dict[str, str]]) -> list[dict[str, str]]:
    """Name the members of a key schema in one way."""
    return [{"attribute_name": k["AttributeName"], "key_type": k["KeyType"]} for k in schema]


def context(seconds: float) -> SimpleNamespace:
    """Make a context that says how much time a function has left."""
    return SimpleNamespace(get_remaining_time_in_millis=lambda: round(seconds * 1000))
