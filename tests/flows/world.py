"""Accounts of a running stack, files to upload, and a web server for downloads."""

from __future__ import annotations

import csv
import io
import os
import random
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

from chalicelib.domain.common.clock import system_clock
from chalicelib.errors import Conflict
from chalicelib.formats.tokens.rsa_key import new_private_pem
from chalicelib.routes import OPERATIONS
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.web.operations.operation import FAMILY
from infra.accounts import GRANT_TYPE, PUBLIC_AUDIENCE
from infra.target import DUMMY_CREDENTIALS
from tests.administration import Administration, public_half, sign
from tests.flows.client import Answer, Client
from tests.flows.presage_client import WEATHER
from tests.local_stack import LocalStack

TOKEN = "/v2/oauth2/token"
_WORDS = [
    "order",
    "parcel",
    "invoice",
    "refund",
    "garden",
    "window",
    "river",
    "coffee",
    "letter",
    "bridge",
    "engine",
    "market",
    "summer",
    "winter",
    "doctor",
    "ticket",
    "camera",
    "kitchen",
    "music",
    "village",
    "harbour",
    "silver",
    "copper",
    "violet",
]


def assertion(email: str, private_pem: str, **claims: object) -> str:
    """Sign an assertion; a claim of None is left out."""
    made: dict[str, object] = {"sub": email, "aud": PUBLIC_AUDIENCE, "exp": time.time() + 3600}
    kept = {name: value for name, value in (made | claims).items() if value is not None}
    return sign(kept, private_pem)


class World:
    """Creates accounts on a running stack and signs them in over HTTP."""

    def __init__(self, stack: LocalStack, folder: Path) -> None:
        self.stack = stack
        self.settings = stack.settings
        self.folder = folder
        self.key_file = folder / "shared.pem"
        self._numbers = count(1)
        self._clients: list[Client] = []
        for name, value in DUMMY_CREDENTIALS.items():
            os.environ.setdefault(name, value)
        self._administration = Administration(self.settings)

    def close(self) -> None:
        """Close the connections of all callers."""
        for client in self._clients:
            client.close()

    @property
    def accounts(self) -> AccountService:
        """The service of accounts, on the data of the stack."""
        return self._administration.accounts

    @cached_property
    def private_pem(self) -> str:
        """The key that all accounts share, unless a test resets one; it is in the key file."""
        made = new_private_pem()
        self.key_file.write_text(made, "ascii")
        return made

    def new_email(self) -> str:
        """Return an unused e-mail address."""
        return f"caller{next(self._numbers)}@flows.example"

    def caller(self, plan: str = "STARTER", example_calls: int | None = None) -> Client:
        """Create an account and sign it in."""
        email = self._create_account(plan)
        if example_calls is not None:
            self.accounts.set_example_calls(email, example_calls)
        return self.sign_in(email)

    def _create_account(self, plan: str) -> str:
        """Create an account and return its address; another world may have some of the stack."""
        while True:
            email = self.new_email()
            try:
                self.accounts.create(email, plan, public_pem=public_half(self.private_pem))
            except Conflict:
                continue
            return email

    def photographer(self, plan: str = "GOLD", example_calls: int = 1_000) -> Client:
        """Create an account that calls below /vision."""
        caller = self.caller(plan, example_calls)
        made = caller.vision()
        made.email = caller.email
        self._clients.append(made)
        return made

    def sign_in(self, email: str) -> Client:
        """Get a token over HTTP."""
        client = Client(self.stack.url)
        self._clients.append(client)
        client.token = self.ask_token(client, email).ok["access_token"]
        client.email = email
        return client

    def ask_token(self, client: Client, email: str, **fields: object) -> Answer:
        """Send an assertion to the token endpoint."""
        signed = assertion(email, self.private_pem)
        return client.form(TOKEN, {"grant_type": GRANT_TYPE, "assertion": signed, **fields})

    def account_id(self, client: Client) -> str:
        """Return the id of the caller's account."""
        return str(client.get("/v2/apiusage").ok["data"][0]["organizationId"])

    def set_used(self, client: Client, used: int, kind: str = "predictions") -> None:
        """Set the number of predictions counted this month."""
        month = system_clock().strftime("%Y-%m")
        self.stack.client("dynamodb").put_item(
            TableName=f"{self.settings.name}-quotas",
            Item={
                "account_id": {"S": self.account_id(client)},
                "period": {"S": f"{kind}#{month}"},
                "used": {"N": str(used)},
            },
        )


def listed_operations() -> list[tuple[str, str, str]]:
    """List name, method and path of every documented operation, for each of its families."""
    return [
        (operation.name, operation.method, operation.path.replace(FAMILY, family))
        for operation in OPERATIONS
        for family in {family: None for family, _ in operation.routes()}
    ]


def csv_file(rows: Sequence[tuple[str, str]]) -> bytes:
    """Write texts and labels as a csv file."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def made_rows(number: int, labels: int = 3, words: int = 8, seed: int = 1) -> list[tuple[str, str]]:
    """Return different texts, each with one word that identifies its label."""
    chosen = random.Random(seed)
    rows = []
    for place in range(number):
        label = place % labels
        filling = " ".join(chosen.choices(_WORDS, k=words))
        own = _WORDS[label % len(_WORDS)]
        rows.append((f"{own} {filling} {seed}x{place}", f"label-{label}"))
    return rows


def weather() -> bytes:
    """Return the sample of weather texts with its expected counts."""
    return WEATHER.read_bytes()


class FileServer:
    """Serves contents by path on localhost and counts requests."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.served: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request."""

            def do_GET(self) -> None:
                """Send a file or 404."""
                owner.served.append(self.path)
                content = owner.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: Any) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> FileServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, content: bytes) -> str:
        """Offer a file and return its URL."""
        self.files[f"/{name}"] = content
        return f"http://127.0.0.1:{self._server.server_address[1]}/{name}"
