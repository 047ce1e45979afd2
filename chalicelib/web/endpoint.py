"""Runs one operation: authenticate, locate, read, work, render, and translate errors.

The order of the checks is the contract's (section 3): 401, 404, 400/413/415, 409, 429, work.
One of the two places where errors become answers; the other is chalicelib/workers.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chalice.app import Response

from chalicelib import log
from chalicelib.errors import InvalidScheme, ServiceError
from chalicelib.web.call import Call
from chalicelib.web.errors import error_response, internal_error, response
from chalicelib.web.forms import convert
from chalicelib.web.headers import next_link, rate_limit_headers
from chalicelib.web.paging import ListAnswer, window

_BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)


@dataclass(frozen=True)
class TextAnswer:
    """An answer that is no record, such as a page for a browser."""

    body: str
    """The whole text."""
    content_type: str
    """Its type."""


def run(call: Call) -> Response:
    """Answer a call; whatever goes wrong has an answer too, and reservations are given back."""
    try:
        answer = _answer(call)
    except ServiceError as error:
        call.give_back()
        answer = error_response(error)
    except Exception as exception:  # noqa: BLE001 - the outermost edge: no caller may see a trace
        call.give_back()
        log.error("unforeseen_failure", exception, operation=call.operation.name)
        answer = internal_error()
    call.close()
    _add_rate_limits(call, answer)
    return answer


def _answer(call: Call) -> Response:
    """Check in the contract's order, then do the work."""
    operation = call.operation
    if not operation.is_public:
        call.account = call.container.tokens.authenticate(bearer_token(call))
        log.add(account=call.account.account_id)
    if operation.locate is not None:
        call.located = operation.locate(call)
    if operation.page_size:
        call.window = window(call.incoming.query, operation.page_size)
    if operation.query is not None:
        sent = {name: text for name, text in call.incoming.query.items() if text}
        call.query = convert(sent, operation.query)
    if operation.form is not None:
        call.form = convert(call.fields.values, operation.form)
    return _rendered(call, operation.view(call))


def bearer_token(call: Call) -> str:
    """Take the token from the Authorization header.

    Raises:
        InvalidScheme: the header is missing or no well-formed Bearer.
    """
    found = _BEARER.fullmatch(call.incoming.header("authorization").strip())
    if found is None:
        raise InvalidScheme
    return found["token"]


def _rendered(call: Call, answer: object) -> Response:
    """Encode what a view returned."""
    headers: dict[str, str | list[str]] = {**call.operation.headers}
    if answer is None:
        return Response(body="", status_code=call.operation.status, headers=headers)
    if isinstance(answer, TextAnswer):
        headers["Content-Type"] = answer.content_type
        return Response(body=answer.body, status_code=call.operation.status, headers=headers)
    if isinstance(answer, ListAnswer):
        headers.update(answer.headers)
        if answer.next_offset is not None:
            page = {"offset": answer.next_offset, "count": answer.count}
            link = next_link(call.incoming, page)["Link"]
            headers["Link"] = f"{headers['Link']}, {link}" if "Link" in headers else link
        answer = answer.record
    return response(answer, call.operation.status, headers)


def _add_rate_limits(call: Call, answer: Response) -> None:
    """Put the rate-limit headers on every answer of a metered call whose caller is known."""
    if not call.operation.is_metered or not hasattr(call, "account"):
        return
    try:
        answer.headers.update(rate_limit_headers(call.current_usage()))
    except ServiceError as trouble:
        # The answer itself stands: it may be the very 503 that made the figures unreadable.
        log.error("rate_limit_headers_left_out", trouble, operation=call.operation.name)
