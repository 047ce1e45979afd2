"""API keys, which programs send instead of an access token. See beyond.md, section 11."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from chalicelib.domain.accounts.api_key import (
    MAX_KEY_NAME,
    MAX_KEYS,
    NO_KEY,
    ApiKey,
    ApiKeyNotFound,
)
from chalicelib.domain.common.paging import ListPage
from chalicelib.web.http.paging import ListAnswer, Window, list_answer
from chalicelib.web.operations.fields import VISIBLE
from chalicelib.web.operations.locate import text_id
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import describe, service_records

KeyName = Annotated[
    str,
    msgspec.Meta(
        description="Name of the key, so that you can tell it from others.",
        examples=["web shop"],
        extra_json_schema={"minLength": 1, "maxLength": MAX_KEY_NAME, "pattern": VISIBLE},
    ),
]
KeyEnd = Annotated[
    str,
    msgspec.Meta(
        description="When the key expires: ISO 8601, UTC unless it has an offset. Without it, the "
        "key does not expire.",
        examples=["2030-01-31T00:00:00Z"],
        extra_json_schema={"format": "date-time"},
    ),
]


class ApiKeyForm(msgspec.Struct, rename="camel"):
    """Fields of a new API key."""

    name: KeyName
    scope: Literal["all", "predict"] = "all"
    expires_at: KeyEnd | None = None


def locate_key(call: Call) -> ApiKey:
    """Return the API key that the path names."""
    key_id = text_id(call.request.parameters["key_id"], ApiKeyNotFound)
    return call.container.api_keys.get(call.account, key_id)


@Operation(
    "POST",
    "/v2/keys",
    # Without a stored answer, a repeated call could not return the secret again.
    takes_key=True,
    form=ApiKeyForm,
    key_scope=NO_KEY,
)
def create_key(call: Call) -> service_records.ApiKeyRecord:
    """Create an API key. Its secret is returned only here."""
    form: ApiKeyForm = call.form
    keys = call.container.api_keys
    return describe.api_key(*keys.create(call.account, form.name, form.scope, form.expires_at))


@Operation("GET", "/v2/keys", key_scope=NO_KEY)
def list_keys(call: Call) -> ListAnswer[service_records.ApiKeyRecord]:
    """List the API keys of the account, without their secrets."""
    page = ListPage(call.container.api_keys.of_account(call.account), 0, has_more=False)
    return list_answer(page, describe.api_key, Window(0, MAX_KEYS))


@Operation("DELETE", "/v2/keys/{key_id}", locate=locate_key, key_scope=NO_KEY)
def delete_key(call: Call) -> service_records.ApiKeyRecord:
    """Revoke an API key at once."""
    call.container.api_keys.revoke(call.target)
    return describe.api_key(call.target)
