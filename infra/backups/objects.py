"""Copies new and changed objects of a bucket into a backup, and from a backup into a bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from boto3.s3.inject import upload_fileobj
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

from chalicelib.stores.aws.objects import BATCHES, EXPORTS
from infra.backups.folder import BackupFolder, StoredObject

# Prefixes of temporary files, and of results that can be requested again; they are not copied.
LEFT_OUT = ("tmp/", EXPORTS, BATCHES)
# Accepted uploads name the objects with this prefix by ETag. A multipart upload would change the
# ETag, so each of these objects is written by one call.
WHOLE = "incoming/"
_BLOCK = 1 << 20
_PAGE = 1_000
# Largest object of one call, and size above which others are sent in parts, in bytes.
_LARGEST, _IN_PARTS = 5 * 1024**3, 64 * 1024**2
_THREADS = 8

# Key, size in bytes, ETag and time of writing.
Found = tuple[str, int, str, str]


def found(s3: Any, bucket: str) -> Iterator[Found]:
    """Yield the objects of a bucket that belong in a backup, in the order of their keys."""
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for entry in page.get("Contents", ()):
            if not entry["Key"].startswith(LEFT_OUT):
                yield entry["Key"], entry["Size"], entry["ETag"], entry["LastModified"].isoformat()


def copy(
    s3: Any,
    bucket: str,
    folder: BackupFolder,
    before: Mapping[str, StoredObject],
    progress: Callable[[str], None] = lambda _: None,
) -> list[StoredObject]:
    """Copy the bucket into a backup; unchanged objects are taken from the previous dump.

    Args:
        s3: S3 client.
        bucket: name of the bucket.
        folder: the backup folder.
        before: objects of the previous dump by key.
        progress: called with lines for the user.
    """

    def take(entry: Found) -> list[StoredObject]:
        key, *state = entry
        old = before.get(key)
        same = old and [old.size, old.etag, old.modified] == state
        if old and same and folder.has(old.sha256):
            return [old]
        return _copied(s3, bucket, folder, key)

    copied: list[StoredObject] = []
    entries = found(s3, bucket)
    with ThreadPoolExecutor(_THREADS) as threads:
        while page := list(islice(entries, _PAGE)):
            copied += [item for taken in threads.map(take, page) for item in taken]
            progress(f"{len(copied)} objects")
    return copied


def put_all(s3: Any, bucket: str, folder: BackupFolder, items: Sequence[StoredObject]) -> None:
    """Write all objects of a backup into the bucket."""
    with ThreadPoolExecutor(_THREADS) as threads:
        for start in range(0, len(items), _PAGE):
            page = items[start : start + _PAGE]
            for _ in threads.map(lambda item: put(s3, bucket, folder, item), page):
                pass


def _copied(s3: Any, bucket: str, folder: BackupFolder, key: str) -> list[StoredObject]:
    """Copy one object; return an empty list if it was deleted meanwhile."""
    try:
        answer = s3.get_object(Bucket=bucket, Key=key)
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
            return []
        raise
    name, size = folder.add_stream(answer["Body"].iter_chunks(_BLOCK))
    modified = answer["LastModified"].isoformat()
    kind = answer.get("ContentType") or "binary/octet-stream"
    return [StoredObject(key, size, answer["ETag"], modified, kind, name)]


def put(s3: Any, bucket: str, folder: BackupFolder, item: StoredObject) -> None:
    """Write one object of a backup into the bucket."""
    threshold = _LARGEST if item.key.startswith(WHOLE) else _IN_PARTS
    config = TransferConfig(multipart_threshold=threshold, use_threads=False)
    with folder.open(item.sha256) as body:
        kind = {"ContentType": item.content_type}
        upload_fileobj(s3, body, bucket, item.key, ExtraArgs=kind, Config=config)


def delete_all(s3: Any, bucket: str) -> None:
    """Delete all objects of the bucket."""
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        keys = [{"Key": entry["Key"]} for entry in page.get("Contents", ())]
        if keys:
            s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
