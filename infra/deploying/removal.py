"""Deletes what stacks leave behind on purpose: tables and bucket."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from infra.deploying.account import Target, is_there
from infra.deploying.artifacts import has_bucket
from infra.resources import table_resources

Say = Callable[[str], None]


def kept(target: Target) -> list[str]:
    """Name the tables and the bucket of a stage that are there."""
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
    """Delete tables, and the bucket with every object, for good; may be repeated."""
    dynamodb = target.client("dynamodb")
    for table in table_resources(target.settings):
        if is_there(partial(dynamodb.delete_table, TableName=table.name)):
            say(f"  deleted table {table.name}")
    if has_bucket(target, target.data_bucket):
        empty_bucket(target)
        target.client("s3").delete_bucket(Bucket=target.data_bucket)
        say(f"  deleted bucket {target.data_bucket}")


def empty_bucket(target: Target) -> None:
    """Delete every version of every object, and the markers of what was deleted."""
    if not has_bucket(target, target.data_bucket):
        return
    s3, bucket = target.client("s3"), target.data_bucket
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        entries = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        keys = [{"Key": entry["Key"], "VersionId": entry["VersionId"]} for entry in entries]
        if keys:
            s3.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
