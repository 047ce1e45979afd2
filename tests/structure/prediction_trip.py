"""Follows one warm intent prediction through the source, call by call, and prints its trip.

Run: python -m tests.structure.prediction_trip. It asks the real application the same question
twice, by proxy events of the gateway on the emulated AWS, and records the second answer with
`sys.setprofile`: every call of a function below `chalicelib`, indented by how many such calls are
open, with the file wherever it is another than the caller's. Such a line is a *hop*.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

import jwt

import app as module
from chalicelib.config import Settings
from infra.accounts import GRANT_TYPE, PUBLIC_AUDIENCE, TOKEN_PATH, ensure_account
from infra.local.events import LambdaContext
from infra.local.http.gateway import HttpRequest, RouteTable, proxy_event
from tests.builders import World, a_csv, empty_aws, some_rows
from tests.conftest import MovableClock

ROOT = Path(module.__file__).parent / "chalicelib"
EMAIL = "trip@example.com"
BOUNDARY = "presage-trip"
HEADERS = {"Host": "localhost"}


@dataclass(frozen=True)
class Step:
    """One call of a function below `chalicelib`."""

    depth: int
    """Frames below `chalicelib` that were open."""
    file: str
    """File that was entered, below `chalicelib`."""
    function: str
    """Function that was called."""
    is_hop: bool
    """Whether the nearest caller below `chalicelib`, if there is one, is in another file."""


@dataclass(frozen=True)
class Trip:
    """The calls of one request through the files."""

    steps: Sequence[Step]
    """Every call in its order."""
    own_file: str
    """File of the service that does the work."""

    @property
    def files(self) -> list[str]:
        """The files that were entered, in the order of their first call."""
        return list(dict.fromkeys(step.file for step in self.steps))

    @property
    def hops(self) -> int:
        """Calls from one file into another."""
        return sum(step.is_hop for step in self.steps)

    @property
    def files_before(self) -> int:
        """Files that were entered before the first file of the service."""
        return self.files.index(self.own_file)

    def __str__(self) -> str:
        lines = [
            f"{'  ' * step.depth}{f'{step.file}:' if step.is_hop else ''}{step.function}"
            for step in self.steps
        ]
        figures = (
            f"{len(self.files)} files, {self.hops} hops; "
            f"{self.files_before} files before {self.own_file}"
        )
        return "\n".join([*lines, "", figures])


class _Recorder:
    """Records the calls of one answer, for `sys.setprofile`."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Record a call that enters a file below `chalicelib`."""
        if event != "call" or not _is_ours(frame):
            return
        callers = []
        caller = frame.f_back
        while caller is not None:
            if _is_ours(caller):
                callers.append(caller.f_code.co_filename)
            caller = caller.f_back
        code = frame.f_code
        is_hop = callers[:1] != [code.co_filename]
        file = str(Path(code.co_filename).relative_to(ROOT))
        self.steps.append(Step(len(callers), file, code.co_name, is_hop))


def _is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs the service's code."""
    return frame.f_code.co_filename.startswith(f"{ROOT}/")


def record(world: World) -> Trip:
    """Train a small model, and record the second of two equal predictions."""
    container = world.container
    module.app.container = container
    try:
        headers = HEADERS | {"Authorization": f"Bearer {_token(world)}"}
        fields = {"modelId": _trained(world, headers), "document": "book please"}
        event = _event("POST", "/v2/language/intent", headers, json.dumps(fields))
        context, recorder = LambdaContext("api_handler", 29.0), _Recorder()
        # The thread that counts begins with the first answer, and stays.
        threading.setprofile(recorder)
        first = module.app(event, LambdaContext("api_handler", 29.0))
        threading.setprofile(None)
        recorder.steps.clear()
        sys.setprofile(recorder)
        try:
            second = module.app(event, context)
        finally:
            sys.setprofile(None)
    finally:
        module.app.container = None
    assert first["statusCode"] == second["statusCode"] == 200, second
    assert first["body"] == second["body"]
    own = sys.modules[type(container.predictions).__module__].__file__
    return Trip(recorder.steps, str(Path(str(own)).relative_to(ROOT)))


def _token(world: World) -> str:
    """Create an account and return an access token."""
    with tempfile.TemporaryDirectory() as folder:
        key_file = Path(folder) / "key.pem"
        ensure_account(world.settings, EMAIL, key_file)
        claims = {
            "sub": EMAIL,
            "aud": PUBLIC_AUDIENCE,
            "exp": int(world.clock().timestamp()) + 3_600,
        }
        assertion = jwt.encode(claims, key_file.read_bytes(), algorithm="RS256")
    form = urlencode({"grant_type": GRANT_TYPE, "assertion": assertion})
    kind = "application/x-www-form-urlencoded"
    return str(_ask("POST", TOKEN_PATH, HEADERS, form, kind)["access_token"])


def _trained(world: World, headers: dict[str, str]) -> str:
    """Upload a few texts, train a model of them, and return its id."""
    rows = some_rows({"book": 9, "cancel": 9})
    fields = {"data": a_csv(rows).decode(), "type": "text-intent"}
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    upload = "/v2/language/datasets/upload/sync"
    dataset = _ask("POST", upload, headers, _multipart(fields), kind)
    world.work()
    asked = _multipart({"name": "trip", "datasetId": str(dataset["id"])})
    model = _ask("POST", "/v2/language/train", headers, asked, kind)
    world.work()
    return str(model["modelId"])


def _ask(method: str, path: str, headers: dict[str, str], body: str, kind: str) -> Any:
    """Send a request that must succeed; return the record in its answer."""
    event = _event(method, path, headers, body, kind)
    answer = module.app(event, LambdaContext("api_handler", 29.0))
    assert answer["statusCode"] == 200, answer
    return json.loads(answer["body"])


def _event(
    method: str, path: str, headers: dict[str, str], body: str, kind: str = "application/json"
) -> dict[str, Any]:
    """Return the proxy event of a request, as the gateway sends it."""
    sent = [*headers.items(), ("Content-Type", kind)]
    request = HttpRequest(method, path, "", sent, body.encode())
    match = RouteTable(module.app.routes).match(method, path)
    assert match is not None
    return proxy_event(request, match, module.app.api.binary_types, "request-1")


def _multipart(fields: dict[str, str]) -> str:
    """Return a multipart form; the field `data` is a file."""
    parts = [
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; "
        f'name="{name}"{"; filename=t.csv" if name == "data" else ""}\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    return "".join([*parts, f"--{BOUNDARY}--\r\n"])


def main() -> None:
    """Print the trip."""
    from moto import mock_aws

    with mock_aws():
        # The fast encoders, so that the trip is the same whatever is installed.
        secret = "a signing key of the trip, longer than 32 bytes"
        settings = Settings(token_secret=secret, text_profile="fast")
        empty_aws(settings)
        trip = record(World(settings, MovableClock(datetime.now(UTC))))
    sys.stdout.write(f"{trip}\n")


if __name__ == "__main__":
    main()
