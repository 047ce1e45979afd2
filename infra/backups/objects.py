"""Objects of the bucket, copied when they are new or have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from boto3.s3.inject import upload_fileobj
from botocore.exceptions import ClientError

from infra.backups.folder import BackupFolder, StoredObject

LEFT_OUT = ("incoming/", "tmp/")
"""What is on its way: callers send it again."""
_BLOCK = 1 << 20
_PAGE = 1_000

Found = tuple[str, int, str, str]
"""Key, size in bytes, ETag and time of writing."""


def found(s3: Any, bucket: str) -> Iterator[Found]:
    """Yield the objects that belong into a backup, by key."""
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
    """Copy the bucket into a backup; unchanged objects are taken from the dump before.

    Args:
        s3: client.
        bucket: its name.
        folder: takes the pieces.
        before: objects of the former dump, by key.
        progress: takes lines for the user.
    """
    copied: list[StoredObject] = []
    for number, (key, size, etag, modified) in enumerate(found(s3, bucket), 1):
        old = before.get(key)
        same = old and (old.size, old.etag, old.modified) == (size, etag, modified)
        if old and same and folder.has(old.sha256):
            copied.append(old)
        else:
            copied += _copied(s3, bucket, folder, key)
        if number % _PAGE == 0:
            progress(f"{number} objects")
    return copied


def _copied(s3: Any, bucket: str, folder: BackupFolder, key: str) -> list[StoredObject]:
    """Copy one object; none when it was deleted meanwhile."""
    try:
        answer = s3.get_object(Bucket=bucket, Key=key)
    except ClientError as trouble:
        if trouble.response["Error"]["Code"] in ("NoSuchKey", "404"):
            return []
        raise
    name, size = folder.add_stream(answer["Body"].iter_chunks(_BLOCK))
    modified = answer["LastModified"].isoformat()
    kind = answer.get("ContentType") or "binary/octet-stream"
    return [StoredObject(key, size, answer["ETag"], modified, kind, name)]


def put(s3: Any, bucket: str, folder: BackupFolder, item: StoredObject) -> None:
    """Write one object of a backup into the bucket."""
    with folder.open(item.sha256) as body:
        upload_fileobj(s3, body, bucket, item.key, ExtraArgs={"ContentType": item.content_type})


def delete_all(s3: Any, bucket: str) -> None:
    """Delete every object of the bucket."""
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        keys = [{"Key": entry["Key"]} for entry in page.get("Contents", ())]
        if keys:
            s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
