"""Issues and revokes tokens. See spec (Authentication) and contract (section 2)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec
from msgspec import UNSET

from chalicelib.domain.accounts.api_key import NO_KEY
from chalicelib.errors import MissingParameter
from chalicelib.services.accounts.tokens import Granted
from chalicelib.web.operations.fields import Filled
from chalicelib.web.operations.operation import Call, Operation
from chalicelib.web.records import service_records

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
REFRESH = "refresh_token"
GrantType = Literal["urn:ietf:params:oauth:grant-type:jwt-bearer", "refresh_token"]


class TokenForm(msgspec.Struct):
    """Fields of a token request. `grant_type` determines which other fields are required."""

    form_rules: ClassVar[dict[str, Any]] = {
        "oneOf": [
            {"properties": {"grant_type": {"const": JWT_BEARER}}, "required": ["assertion"]},
            {"properties": {"grant_type": {"const": REFRESH}}, "required": ["refresh_token"]},
        ]
    }
    json_rules: ClassVar[dict[str, Any]] = form_rules

    grant_type: GrantType
    assertion: Filled | None = None
    scope: str | None = None
    refresh_token: Filled | None = None
    valid_for: int | str | None = None


@Operation(
    "POST",
    "/v2/oauth2/token",
    # Paths that libraries for the old API use.
    aliases=("/oauth2/token", "/v1/oauth2/token"),
    form=TokenForm,
    is_public=True,
    # OAuth clients send forms of this type.
    takes_urlencoded=True,
    statuses=(401, 429),
    # RFC 6749 requires both for answers with tokens.
    headers={"Cache-Control": "no-store", "Pragma": "no-cache"},
)
def create_token(call: Call) -> service_records.TokenRecord:
    """Get an access token for a signed assertion or a refresh token."""
    granted = _grant(call, call.form)
    return service_records.TokenRecord(
        granted.access_token, granted.refresh_token or UNSET, "Bearer", granted.expires_in
    )


def _grant(call: Call, form: TokenForm) -> Granted:
    tokens = call.container.tokens
    if form.grant_type == JWT_BEARER:
        assertion = _needed("assertion", form.assertion)
        return tokens.grant_assertion(assertion, form.scope, call.request.domain)
    return tokens.grant_refresh(_needed(REFRESH, form.refresh_token), form.valid_for)


def _needed(name: str, value: str | None) -> str:
    if value is None:
        raise MissingParameter(name)
    return value


@Operation(
    "DELETE",
    "/v2/oauth2/tokens/{token}",
    aliases=("/v2/oauth2/token/{token}",),
    key_scope=NO_KEY,
    status=204,
    statuses=(404,),
)
def revoke_token(call: Call) -> None:
    """Revoke a refresh token and the access tokens made from it."""
    call.container.tokens.revoke(call.account, call.request.parameters["token"])
