"""Notes which rights the AWS calls of some clients need, in the words of infra/template/rights.py.

It listens to botocore's own events, so every call counts, whatever library makes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from chalicelib.config import Settings
from chalicelib.stores.aws.clients import Clients

Right = tuple[str, str]
"""Resource and action."""

S3_ACTIONS = {
    "GetObject": "s3:GetObject",
    "HeadObject": "s3:GetObject",
    "PutObject": "s3:PutObject",
    "DeleteObject": "s3:DeleteObject",
    "DeleteObjects": "s3:DeleteObject",
    "ListObjectsV2": "s3:ListBucket",
    "CreateMultipartUpload": "s3:PutObject",
    "UploadPart": "s3:PutObject",
    "CompleteMultipartUpload": "s3:PutObject",
    "AbortMultipartUpload": "s3:AbortMultipartUpload",
    "CopyObject": "s3:PutObject",
}
"""Right that each call of S3 needs; some need more than one."""
MISSING = ("NoSuchKey", "404")
"""Without the right to list the bucket S3 answers 403 in place of these, which is ambiguous."""


class Recorder:
    """Collects rights by function."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.used: dict[str, set[Right]] = {}
        self.actions: list[str] = []
        """Every action in order, until a test clears them."""
        self._pending: dict[tuple[str, Right], Callable[[], None]] = {}

    def listen(self, function: str, clients: Clients) -> None:
        """Note every call of these clients as one of a function."""
        rights = self.used.setdefault(function, set())
        from tests.quick_aws import keep_clients

        keep_clients()

        def begin(event_name: str, params: dict[str, Any], context: Any, **_: Any) -> None:
            """Note what the call asks for."""
            _, service, operation = event_name.split(".")
            context["asked"] = params
            for right in self.needed(service, operation, params):
                rights.add(right)
                self.actions.append(right[1])
                # A flow waits for objects of one kind of a dataset, or of any.
                for resource in dict.fromkeys((right[0], "/".join(right[0].split("/")[:2]))):
                    if act := self._pending.pop((function, (resource, right[1])), None):
                        act()

        def end(event_name: str, parsed: Mapping[str, Any], context: Any, **_: Any) -> None:
            """Note what S3 needs in order to say that something is not there."""
            if parsed.get("Error", {}).get("Code") in MISSING:
                rights.add(("bucket", "s3:ListBucket"))

        every = (clients.dynamodb, clients.dynamodb_once, clients.s3, clients.sqs, clients.secrets)
        for client in every:
            client.meta.events.register("before-parameter-build", begin)
            client.meta.events.register("after-call.s3", end)

    def before(self, function: str, resource: str, action: str, act: Callable[[], None]) -> None:
        """Do something just before a function's next use of a right; it may raise."""
        self._pending[function, (resource, action)] = act

    @property
    def pending(self) -> list[tuple[str, Right]]:
        """What was to be done and has not come about."""
        return list(self._pending)

    def answered(self, function: str, body: str) -> None:
        """Note what the presigned URLs and forms of an answer will need from who signed them."""
        for value in _texts(json.loads(body) if body[:1] in "{[" and body else None):
            if "X-Amz-Signature=" in value:
                path = unquote(urlsplit(value).path)
                key = path.removeprefix(f"/{self._settings.bucket}/")
                self.used[function].add((_object(key), "s3:GetObject"))
            elif value.startswith("incoming/"):
                self.used[function].add((_object(value), "s3:PutObject"))

    def needed(self, service: str, operation: str, params: Mapping[str, Any]) -> Iterator[Right]:
        """List the rights that a call needs."""
        if service == "dynamodb":
            for table in _tables(params):
                yield self._table(table, params.get("IndexName")), f"dynamodb:{operation}"
        elif service == "sqs":
            name = params.get("QueueName") or str(params["QueueUrl"]).rsplit("/", 1)[-1]
            yield f"queue/{self._short(name)}", f"sqs:{operation}"
        elif service == "s3":
            yield from self._objects(operation, params)
        elif service == "secrets-manager":
            assert params["SecretId"] == self._settings.token_secret_name
            yield "secret", f"secretsmanager:{operation}"
        else:
            raise AssertionError(f"No policy knows {service}.{operation}.")

    def _objects(self, operation: str, params: Mapping[str, Any]) -> Iterator[Right]:
        """List the rights of a call of S3."""
        assert params["Bucket"] == self._settings.bucket
        action = S3_ACTIONS[operation]
        if action == "s3:ListBucket":
            yield "bucket", action
            return
        keys = [entry["Key"] for entry in params.get("Delete", {}).get("Objects", ())]
        for key in keys or [params["Key"]]:
            yield _object(key), action
        if operation == "CopyObject":
            source = params["CopySource"]
            key = source["Key"] if isinstance(source, Mapping) else source.split("/", 1)[1]
            yield _object(key), "s3:GetObject"

    def _table(self, name: str, index: str | None) -> str:
        """Name a table or index as the rights do."""
        table = f"table/{self._short(name)}"
        return table if index is None else f"{table}/index/{index}"

    def _short(self, name: str) -> str:
        """Take the stack's name off."""
        prefix = f"{self._settings.name}-"
        assert name.startswith(prefix), name
        return name.removeprefix(prefix)


def _tables(params: Mapping[str, Any]) -> Iterable[str]:
    """List the tables that a call names."""
    if "TableName" in params:
        return [params["TableName"]]
    return list(params["RequestItems"])


def _object(key: str) -> str:
    """Name the objects of a kind as the rights do: by their prefix, those of datasets by kind."""
    prefix, *parts = key.split("/")
    return f"objects/{prefix}/{parts[1]}" if prefix == "datasets" else f"objects/{prefix}"


def _texts(value: Any) -> Iterator[str]:
    """Walk the texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
