"""Deletes tables and bucket, which remain when the stacks are deleted.

AWS deletes a table in the background. Until then the table is listed, and no other table can get
its name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from botocore.exceptions import WaiterError

from infra.deploying.account import DeployError, Target, is_there
from infra.deploying.artifacts import has_bucket
from infra.resources import table_resources

Say = Callable[[str], None]
# Seconds between two checks whether a table still exists.
LOOK_SECONDS = 3
MOST_LOOKS = 200


def existing_names(target: Target) -> list[str]:
    """Return the names of a stage's existing tables and bucket."""
    dynamodb = target.client("dynamodb")
    names = {
        name
        for page in dynamodb.get_paginator("list_tables").paginate()
        for name in page["TableNames"]
    }
    found = [f"table {t.name}" for t in table_resources(target.settings) if t.name in names]
    if has_bucket(target, target.data_bucket):
        found.append(f"bucket {target.data_bucket}")
    return found


def delete_data(target: Target, say: Say) -> None:
    """Delete tables, and the bucket with every object, permanently; may be repeated.

    Raises:
        DeployError: AWS takes too long.
    """
    dynamodb = target.client("dynamodb")
    tables = [table.name for table in table_resources(target.settings)]
    deleted = [name for name in tables if is_there(partial(dynamodb.delete_table, TableName=name))]
    for name in deleted:
        _wait_until_gone(dynamodb, name)
        say(f"  deleted table {name}")
    if has_bucket(target, target.data_bucket):
        empty_bucket(target)
        target.client("s3").delete_bucket(Bucket=target.data_bucket)
        say(f"  deleted bucket {target.data_bucket}")


def _wait_until_gone(dynamodb: Any, table: str) -> None:
    """Wait until a table has been deleted; raise DeployError if it is still there."""
    pauses = {"Delay": LOOK_SECONDS, "MaxAttempts": MOST_LOOKS}
    try:
        dynamodb.get_waiter("table_not_exists").wait(TableName=table, WaiterConfig=pauses)
    except WaiterError as error:
        raise DeployError(
            f"AWS is still deleting the table {table}: repeat the command in some minutes"
        ) from error


def empty_bucket(target: Target) -> None:
    """Delete every version of every object, and all deletion markers."""
    if not has_bucket(target, target.data_bucket):
        return
    s3, bucket = target.client("s3"), target.data_bucket
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        entries = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        keys = [{"Key": entry["Key"], "VersionId": entry["VersionId"]} for entry in entries]
        if keys:
            s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
