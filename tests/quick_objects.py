"""Answers the frequent calls of S3's client in this process, without an HTTP request.

Signing a request, and moto's way from its address to an object, took nearly all of such a call's
time. Calls with other headers or options are left to moto.
"""

from __future__ import annotations

import base64
import io
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, unquote

from botocore.response import StreamingBody
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID as ACCOUNT_ID
from moto.s3.utils import metadata_from_headers

Answer = tuple[int, dict[str, Any]]

_MOST_KEYS = 1_000
_HEADERS = {"User-Agent", "Expect", "Content-Type", "x-amz-checksum-mode"}
_METADATA = "x-amz-meta-"
_MISSING = {"Code": "NoSuchKey", "Message": "The specified key does not exist."}
_NOT_FOUND = {"Code": "404", "Message": "Not Found"}


def answer(operation: str, params: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
    """Answer a call from its parameters; return None if it is not a simple one.

    Args:
        operation: name in the service description.
        params: what a request would be made of.
    """
    name, _, key = unquote(params["auth_path"]).removeprefix("/").partition("/")
    backend = get_backend("s3")[ACCOUNT_ID]["aws"]
    bucket = backend.buckets.get(name)
    work = _OPERATIONS.get(operation)
    others = [h for h in params["headers"] if h not in _HEADERS and not h.startswith(_METADATA)]
    if work is None or bucket is None or bucket.is_versioned or others:
        return None
    found = work(backend, bucket, key, params)
    if found is None:
        return None
    status, parsed = found
    # Tests that bound what is read count these bytes, of an object or of a list.
    headers = {"content-length": str(parsed.get("ContentLength", 0))}
    content = str(parsed).encode() if "KeyCount" in parsed else b""
    parsed["ResponseMetadata"] = {
        "HTTPStatusCode": status,
        "HTTPHeaders": headers,
        "RequestId": "",
        "RetryAttempts": 0,
    }
    return SimpleNamespace(status_code=status, headers=headers, content=content), parsed


def _put(backend: Any, bucket: Any, key: str, params: dict[str, Any]) -> Answer:
    """Store an object as `put_object` does, with its checksum."""
    content, checksum = _sent(params["body"])
    made = backend.put_object(bucket.name, key, content, checksum_value=checksum)
    made.checksum_algorithm = "CRC32"
    made.set_metadata(metadata_from_headers(params["headers"]))
    made.set_acl(bucket.acl)
    return 200, {"ETag": made.etag, "ChecksumCRC32": checksum}


def _sent(body: Any) -> tuple[bytes, str]:
    """Return the content that a call sends, and the checksum that a request would have."""
    content = bytes(body if isinstance(body, bytes | bytearray) else body.read())
    return content, base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()


def _put_part(_: Any, bucket: Any, __: str, params: dict[str, Any]) -> Answer | None:
    """Store a part of an object that is uploaded in parts."""
    upload = bucket.multiparts.get(params["query_string"]["uploadId"])
    if upload is None:
        return None
    content, checksum = _sent(params["body"])
    made = upload.set_part(int(params["query_string"]["partNumber"]), content)
    return 200, {"ETag": made.etag, "ChecksumCRC32": checksum}


def _get(backend: Any, bucket: Any, key: str, params: dict[str, Any]) -> Answer | None:
    """Return an object with its content."""
    found = backend.get_object(bucket.name, key)
    if found is None:
        return 404, {"Error": {**_MISSING, "Key": key}}
    if params["query_string"]:
        return None
    content = found.value
    parsed = _described(found)
    if found.checksum_algorithm == "CRC32" and found.checksum_value:
        parsed["ChecksumCRC32"] = found.checksum_value
    return 200, {**parsed, "Body": StreamingBody(io.BytesIO(content), len(content))}


def _head(backend: Any, bucket: Any, key: str, _: dict[str, Any]) -> Answer:
    """Return the properties of an object."""
    found = backend.get_object(bucket.name, key)
    return (404, {"Error": dict(_NOT_FOUND)}) if found is None else (200, _described(found))


def _described(found: Any) -> dict[str, Any]:
    """Return the properties of an object that its headers would have."""
    headers = {name.lower(): value for name, value in found.metadata.items()}
    return {
        "AcceptRanges": "bytes",
        "LastModified": _second(found.last_modified),
        "ContentLength": found.size,
        "ETag": found.etag,
        "ContentType": headers["content-type"],
        "Metadata": {
            name.removeprefix(_METADATA): value
            for name, value in headers.items()
            if name.startswith(_METADATA)
        },
    }


def _second(moment: datetime) -> datetime:
    """Return a moment as answers have it, to the second."""
    return moment.replace(microsecond=0, tzinfo=UTC)


def _list(_: Any, bucket: Any, key: str, params: dict[str, Any]) -> Answer | None:
    """List the keys with a prefix, if they fit on one page."""
    asked = dict(params["query_string"])
    prefix, encoding = asked.pop("prefix", ""), asked.pop("encoding-type", None)
    keys = sorted(name for name in list(bucket.keys) if name.startswith(prefix))
    if key or asked or encoding != "url" or len(keys) > _MOST_KEYS:
        return None
    objects = [bucket.keys[name] for name in keys]
    listed = [
        {
            "Key": quote(found.name),
            "LastModified": _second(found.last_modified),
            "ETag": found.etag,
            "Size": found.size,
            "StorageClass": found.storage_class,
            **({"ChecksumAlgorithm": [named]} if (named := found.checksum_algorithm) else {}),
        }
        for found in objects
    ]
    parsed = {
        "IsTruncated": False,
        "Name": bucket.name,
        "Prefix": quote(prefix),
        "MaxKeys": _MOST_KEYS,
        "KeyCount": len(listed),
        "EncodingType": "url",
    }
    return 200, parsed | ({"Contents": listed} if listed else {})


def _delete(backend: Any, bucket: Any, key: str, params: dict[str, Any]) -> Answer | None:
    """Delete an object, whether it exists or not."""
    if params["query_string"]:
        return None
    backend.delete_object(bucket.name, key)
    return 204, {}


_OPERATIONS: dict[str, Callable[..., Answer | None]] = {
    "PutObject": _put,
    "UploadPart": _put_part,
    "GetObject": _get,
    "HeadObject": _head,
    "ListObjectsV2": _list,
    "DeleteObject": _delete,
}
