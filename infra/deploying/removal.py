"""Deletes what a stack leaves behind on purpose: tables and bucket."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from infra.backups.objects import delete_all
from infra.deploying.account import Target, is_there
from infra.deploying.artifacts import has_bucket
from infra.resources import table_resources

Say = Callable[[str], None]


def kept(target: Target) -> list[str]:
    """Name what outlives the stack and is there."""
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
        s3 = target.client("s3")
        delete_all(s3, target.data_bucket)
        s3.delete_bucket(Bucket=target.data_bucket)
        say(f"  deleted bucket {target.data_bucket}")
