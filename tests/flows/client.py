"""A small HTTP client of the service, for tests and benchmarks.

It sends its arguments unchanged: no call is ever repeated, because a repeated
prediction counts twice.
"""

from __future__ import annotations

import http.client
import json
import secrets
import select
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Files = Mapping[str, tuple[str, bytes]]
"""Field name to file name and content."""

LONGEST_PAUSE = 0.15
"""Longest pause between two looks at what is waited for, in seconds, unless asked for."""
OPEN = ("QUEUED", "RUNNING")
LANGUAGE = "/v2/language"
VISION = "/v2/vision"
FORM = "application/x-www-form-urlencoded"


def opened(url: str) -> Any:
    """Open a URL of the stack's own bucket, as given in records of batches and exports."""
    return urllib.request.urlopen(url, timeout=60)  # noqa: S310 - our own


@dataclass(frozen=True)
class Answer:
    """An answer of the service."""

    status: int
    """HTTP status."""
    headers: dict[str, str]
    """Headers by lower-case name."""
    body: bytes
    """The body as it came."""

    @property
    def data(self) -> Any:
        """The decoded JSON body."""
        return json.loads(self.body)

    @property
    def ok(self) -> Any:
        """The decoded JSON body of an answer that must be a 200."""
        assert self.status == 200, f"{self.status}: {self.body[:2000]!r}"
        return self.data

    @property
    def next_path(self) -> str | None:
        """The path of the next page without host; None on the last page."""
        for link in self.headers.get("link", "").split(","):
            address, _, relation = link.partition(";")
            if 'rel="next"' in relation:
                found = urllib.parse.urlsplit(address.strip().strip("<>"))
                return f"{found.path}?{found.query}"
        return None


def encode_multipart(fields: Iterable[tuple[str, object]], files: Files) -> tuple[str, bytes]:
    """Encode fields and files; returns content type and body."""
    boundary = secrets.token_hex(16)
    body = bytearray()
    for name, value in fields:
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
        body += f"{value}\r\n".encode()
    for name, (file_name, content) in files.items():
        head = f'form-data; name="{name}"; filename="{file_name}"'
        body += f"--{boundary}\r\nContent-Disposition: {head}\r\n".encode()
        body += b"Content-Type: application/octet-stream\r\n\r\n" + content + b"\r\n"
    body += f"--{boundary}--\r\n".encode()
    return f"multipart/form-data; boundary={boundary}", bytes(body)


class Client:
    """A caller with one persistent connection; not for use by several threads."""

    def __init__(
        self, url: str, token: str | None = None, seconds: float = 120, base: str = LANGUAGE
    ) -> None:
        self.url = url
        self.base = base
        self.token = token
        self.email = ""
        self.poll_seconds = 0.02
        """First pause between two looks at what is waited for, in seconds."""
        self._seconds = seconds
        self._connection: http.client.HTTPConnection | None = None

    def clone(self) -> Client:
        """Return the same caller with a separate connection."""
        return Client(self.url, self.token, self._seconds, self.base)

    def vision(self) -> Client:
        """Return the same caller for the calls below /vision."""
        return Client(self.url, self.token, self._seconds, VISION)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Make one call; an iterable body is sent in chunks.

        Raises:
            OSError: the connection broke.
            http.client.HTTPException: the connection broke.
        """
        sent = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        sent |= headers or {}
        if self._connection is not None and self._is_closed_by_server(self._connection):
            self.close()
        if self._connection is None:
            place = urllib.parse.urlsplit(self.url).netloc
            self._connection = http.client.HTTPConnection(place, timeout=self._seconds)
        try:
            self._connection.request(method, path, body, sent)
            answer = self._connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        found = {name.lower(): value for name, value in answer.getheaders()}
        if found.get("connection", "").lower() == "close":
            self.close()
        return Answer(answer.status, found, content)

    def _is_closed_by_server(self, connection: http.client.HTTPConnection) -> bool:
        """Return whether the server closed an idle connection on which nothing has been sent."""
        return bool(connection.sock and select.select([connection.sock], [], [], 0)[0])

    def get(self, path: str, **query: object) -> Answer:
        """Send a GET."""
        return self.send("GET", f"{path}?{urllib.parse.urlencode(query)}" if query else path)

    def delete(self, path: str) -> Answer:
        """Send a DELETE."""
        return self.send("DELETE", path)

    def multipart(
        self, method: str, path: str, fields: Mapping[str, object], files: Files | None = None
    ) -> Answer:
        """Send a form with files."""
        kind, body = encode_multipart(fields.items(), files or {})
        return self.send(method, path, body, {"Content-Type": kind})

    def json(self, method: str, path: str, payload: object) -> Answer:
        """Send JSON."""
        body = json.dumps(payload).encode()
        return self.send(method, path, body, {"Content-Type": "application/json"})

    def form(self, path: str, fields: Mapping[str, object]) -> Answer:
        """Send a urlencoded form, as the token endpoint expects it."""
        body = urllib.parse.urlencode(fields).encode()
        return self.send("POST", path, body, {"Content-Type": FORM})

    def pages(self, path: str, **query: object) -> list[Answer]:
        """Yield the pages of a list by following the links to the next page."""
        found = [self.get(path, **query)]
        while (following := found[-1].next_path) is not None:
            assert found[-1].ok["data"], "a page that is followed by another is not empty"
            found.append(self.get(following))
        return found

    def items(self, path: str, **query: object) -> list[dict[str, Any]]:
        """Return all items of a list."""
        return [item for page in self.pages(path, **query) for item in page.ok["data"]]

    def upload(
        self, content: bytes, file_name: str = "texts.csv", call: str = "upload", **fields: object
    ) -> dict[str, Any]:
        """Upload a file as a dataset of intents or images unless another type is given."""
        sent = {"type": "text-intent", **fields} if self.base == LANGUAGE else fields
        path = f"{self.base}/datasets/{call}"
        return dict(self.multipart("POST", path, sent, {"data": (file_name, content)}).ok)

    def dataset(self, content: bytes, **fields: object) -> dict[str, Any]:
        """Upload a file and wait until it is read."""
        return self.wait_dataset(self.upload(content, **fields)["id"])

    def train(self, dataset_id: int, name: str = "model", **fields: object) -> dict[str, Any]:
        """Queue a training."""
        sent = {"name": name, "datasetId": dataset_id, **fields}
        return dict(self.json("POST", f"{self.base}/train", sent).ok)

    def model(self, dataset_id: int, name: str = "model", **fields: object) -> str:
        """Train a model that must succeed and return its id."""
        model_id = str(self.train(dataset_id, name, **fields)["modelId"])
        ended = self.wait_model(model_id)
        assert ended["status"] == "SUCCEEDED", ended
        return model_id

    def predict(
        self, model_id: str, document: str, call: str = "intent", **fields: object
    ) -> Answer:
        """Request a prediction for a text."""
        sent = {"modelId": model_id, "document": document, **fields}
        return self.json("POST", f"{LANGUAGE}/{call}", sent)

    def best(self, model_id: str, document: str, call: str = "intent") -> str:
        """Return the most probable label of a text."""
        return str(self.predict(model_id, document, call).ok["probabilities"][0]["label"])

    def picture(
        self, model_id: str, content: bytes, call: str = "predict", **fields: object
    ) -> Answer:
        """Request a prediction for an image file."""
        files = {"sampleContent": ("picture.jpg", content)}
        sent = {"modelId": model_id, **fields}
        return self.multipart("POST", f"{VISION}/{call}", sent, files)

    def wait(
        self, path: str, is_over: Callable[[dict[str, Any]], bool], seconds: float
    ) -> list[dict[str, Any]]:
        """Poll a record until a condition holds; return all states seen.

        Raises:
            TimeoutError: the record stayed the same for the given time.
        """
        deadline = time.monotonic() + seconds
        pause = self.poll_seconds
        seen = [self.get(path).ok]
        while not is_over(seen[-1]):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} after {seconds} s: {seen[-1]}")
            time.sleep(pause)
            # Looks cost the stack processor time that the work waited for needs itself.
            pause = max(self.poll_seconds, min(pause * 1.5, LONGEST_PAUSE))
            seen.append(self.get(path).ok)
            # On a busy machine work takes long, but it makes progress.
            if seen[-1] != seen[-2]:
                deadline = time.monotonic() + seconds
        return seen

    def wait_dataset(self, dataset_id: int, seconds: float = 240) -> dict[str, Any]:
        """Wait until an upload has ended."""
        path = f"{self.base}/datasets/{dataset_id}"
        return self.wait(path, lambda d: d["statusMsg"] != "UPLOADING", seconds)[-1]

    def watch_model(self, model_id: str, seconds: float = 240) -> list[dict[str, Any]]:
        """Wait until a training has ended; return every state seen."""
        return self.wait(
            f"{self.base}/train/{model_id}", lambda t: t["status"] not in OPEN, seconds
        )

    def wait_model(self, model_id: str, seconds: float = 240) -> dict[str, Any]:
        """Wait until a training has ended."""
        return self.watch_model(model_id, seconds)[-1]

    def wait_deletion(self, deletion_id: str, seconds: float = 240) -> list[dict[str, Any]]:
        """Wait until a deletion has ended; return every state seen."""
        path = f"{self.base}/deletion/{deletion_id}"
        return self.wait(path, lambda d: d["status"] == "SUCCEEDED", seconds)
