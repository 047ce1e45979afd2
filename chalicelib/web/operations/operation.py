"""One declaration per operation, a call of it, and how that is answered.

Declared in chalicelib/routes, described by chalicelib/web/openapi. The order of the checks is the
contract's (section 3): 401, 429 of a rate, 404, 400/413/415, 409, 429 of an allowance, work. One
of the two places where errors become answers; the other is chalicelib/workers.py.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import msgspec
from chalice.app import Response

from chalicelib import log
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.rates import RECORDS
from chalicelib.domain.accounts.usage import Usage, until_answered
from chalicelib.domain.common.clock import date_text
from chalicelib.domain.common.repeats import KeyedCall
from chalicelib.domain.datasets.dataset import LANGUAGE, VISION
from chalicelib.errors import InvalidScheme, NothingIsSaved, ServiceError
from chalicelib.web.http.paging import ListAnswer, Window, window
from chalicelib.web.http.request import (
    OLD_PATHS,
    VERSION_1,
    VERSION_2,
    ApiRequest,
    BodyFields,
    read_fields,
)
from chalicelib.web.http.responses import (
    error_response,
    internal_error,
    next_link,
    rate_limit_headers,
    response,
)
from chalicelib.web.operations.forms import convert, field_names
from chalicelib.web.operations.repeats import answer_once, request_digest, sent_key
from chalicelib.web.records.members import members_since_2

if TYPE_CHECKING:
    from chalicelib.container import Container

BOTH = (VISION, LANGUAGE)
GROUPS: Mapping[str, str] = {
    "accounts": "Who calls, and how much is left: tokens, plan, predictions of the month.",
    "datasets": "Labelled texts or pictures: upload them, look at them, add to them.",
    "models": "Trained from datasets: train, watch, read how good they are.",
    "predictions": "Ask a model about a text or picture; read documents.",
    "service": "How far deletions are, the state of the service, and this description.",
}
"""The wings of chalicelib/routes, in the order in which one uses them, with what they hold."""
FAMILY = ":family"
"""Stands for the family in a path."""


@dataclass(frozen=True)
class Operation:
    """Everything there is to know about one call of the interface."""

    name: str
    """Unique; the `operationId` of the document."""
    method: str
    """GET, POST, PUT or DELETE."""
    path: str
    """Path with `:family` where the family stands, and variables in braces."""
    view: Callable[[Call], object]
    """Does the work and returns the answer record."""
    summary: str
    """One sentence for the document."""
    answer: Any = None
    """Type of the answer record, or a union of several; None if there is no body."""
    parts: tuple[Any, ...] = ()
    """Records inside the answer that its type does not name."""
    families: tuple[str, ...] = ()
    """Families it exists for; none when the path has no family."""
    form: Any = None
    """Struct of the body's fields; None when no body is read.

    Its `form_rules` and `json_rules`, where it has them, complete its schema by content type;
    its `media_types` are those that can succeed, where not both can;
    its `missing_texts` are the texts for required fields that are absent.
    """
    files: tuple[str, ...] = ()
    """Names of fields that are files."""
    query: type[msgspec.Struct] | None = None
    """Struct of the query parameters other than `offset` and `count`."""
    page_size: int = 0
    """Default and maximum `count` of a paged list; 0 for an unpaged one."""
    is_list: bool = False
    """True when `answer` is the type of a list's records."""
    list_members: Mapping[str, Any] = field(default_factory=dict)
    """Schemas of members that the list has besides `object` and `data`, and may leave out."""
    locate: Callable[[Call], object] | None = None
    """Loads what path or body name, unless it is there; runs after the 401, before other checks."""
    name_model: Callable[[Call], str | None] | None = None
    """Returns the model that the body names, whose row is read in one trip with the account's.

    Called before the 401 is certain, so it says nothing of what is wrong with the body.
    """
    takes_key: bool = False
    """True when an `Idempotency-Key` makes it safe to repeat."""
    creates: str = ""
    """Kind of the integer id that is held for what it creates under a key; none when empty."""
    recover: Callable[[Call], object | None] | None = None
    """Returns the answer record of an earlier attempt under the same key, or None.

    Asked before anything else when the earlier one has left no answer. Missing where the work may
    simply be done again.
    """
    takes_data: bool = False
    """True when it brings or corrects data, which is refused while nothing can be saved."""
    is_public: bool = False
    """True when no token is needed."""
    cost: str = RECORDS
    """Cost class of its calls, whose rate an account may not exceed; nothing for public ones."""
    is_metered: bool = False
    """True when every answer after the 401 carries the rate-limit headers."""
    status: int = 200
    """Status of success."""
    statuses: tuple[int, ...] = ()
    """Statuses of failure besides those that follow from the members above."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every success."""
    answer_types: tuple[str, ...] = ("application/json",)
    """Content types of success."""
    aliases: tuple[str, ...] = ()
    """Further paths of the same call."""
    takes_urlencoded: bool = False
    """True when `application/x-www-form-urlencoded` is read too."""
    is_deprecated: bool = False
    """True when another operation has taken its place."""
    group: str = ""
    """One of GROUPS: its section in the document."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Its method, and HEAD wherever GET is."""
        return (self.method, "HEAD") if self.method == "GET" else (self.method,)

    def routes(self) -> Iterator[tuple[str, str]]:
        """Yield (family, path) for each path that the document describes."""
        for path in (self.path, *self.aliases):
            if FAMILY in path:
                for family in self.families:
                    yield family, path.replace(FAMILY, family)
            else:
                named = [f for f in self.families if f"/{f}/" in path] or self.families
                yield (named[0] if len(named) == 1 else ""), path

    def served(self) -> Iterator[tuple[str, str]]:
        """Yield (family, path) for each path that answers, those of version 1.0 too."""
        for family, path in self.routes():
            yield family, path
            old = path.replace(VERSION_2, VERSION_1, 1)
            if old.startswith(OLD_PATHS):
                yield family, old


@dataclass
class Call:
    """One call of one operation; lives as long as the request."""

    operation: Operation
    """What is called."""
    family: str
    """`language`, `vision`, or empty where the path has none."""
    request: ApiRequest
    """The request."""
    make_container: Callable[[], Container]
    """Gives the services; called when they are first needed."""
    catalogue: tuple[Operation, ...] = ()
    """Every operation there is, for the one that describes them."""
    account: Account = field(init=False)
    """Who calls; not set on public operations."""
    located: Any = None
    """What was read in one trip with the account, or the operation's `locate` loaded."""
    form: Any = None
    """The body's fields, an instance of the operation's form."""
    query: Any = None
    """The query parameters, an instance of the operation's query struct."""
    window: Window = field(init=False)
    """The part of a paged list that is asked for."""
    usage: Usage | None = None
    """State of the predictions after this call made one."""
    keyed: KeyedCall | None = None
    """This attempt at a call with a key; None without one."""
    started: float = field(default_factory=time.monotonic)
    """When the call began, in seconds of the monotonic clock."""

    @cached_property
    def container(self) -> Container:
        """The services."""
        return self.make_container()

    @cached_property
    def fields(self) -> BodyFields:
        """The body, read at the first use.

        Raises:
            BadRequest, TooLarge, UnsupportedType: it cannot be read.
        """
        form, known = self.operation.form, [*self.operation.files]
        if form is not None:
            known += field_names(form)
        return read_fields(self.request, known, takes_urlencoded=self.operation.takes_urlencoded)

    @property
    def seconds_left(self) -> float:
        """Time a synchronous call may still take, in seconds."""
        limit = self.container.settings.sync_seconds
        return float("inf") if limit == 0 else max(0.0, limit - (time.monotonic() - self.started))

    def current_usage(self) -> Usage:
        """State of the predictions, as the rate-limit headers show it."""
        return self.usage or self.container.allowances.predictions(self.account)


_BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)


@dataclass(frozen=True)
class TextAnswer:
    """An answer that is not a record, such as a page for a browser."""

    body: str
    """The whole text."""
    content_type: str
    """Its type."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""


def run(call: Call) -> Response:
    """Answer a call; whatever goes wrong has an answer too."""
    try:
        with until_answered(call.operation.name):
            answer = _answer(call)
    except ServiceError as error:
        call.usage = None
        answer = error_response(error)
    except Exception as exception:  # noqa: BLE001 - the outermost edge: no caller may see a trace
        call.usage = None  # the counted prediction has been released
        log.error("unforeseen_failure", exception, operation=call.operation.name)
        answer = internal_error()
    _add_rate_limits(call, answer)
    return answer


def _answer(call: Call) -> Response:
    """Check in the contract's order, then do the work."""
    operation = call.operation
    if not operation.is_public:
        name_model = partial(operation.name_model or _names_none, call)
        caller = call.container.tokens.find_caller(bearer_token(call), name_model)
        call.account, call.located = caller.account, caller.model
        log.add(account=call.account.account_id)
        call.container.rates.check(call.account, operation.cost)
        key = sent_key(call.request) if operation.takes_key else None
        if key is not None:
            return _answer_once(call, key)
    return _work(call)


def _answer_once(call: Call, key: str) -> Response:
    """Do the work unless its key has an answer already."""
    answers = call.container.idempotency
    reserve = partial(call.container.reserve_id, call.operation.creates)
    digest = request_digest(call.request, lambda: call.fields)
    call.keyed = answers.claim(call.account.account_id, key, digest, reserve)
    return answer_once(answers, call.keyed, partial(_work, call))


def _work(call: Call) -> Response:
    """Load what the call names, check its fields, and do the work."""
    operation, keyed = call.operation, call.keyed
    if keyed and keyed.is_taken_over and operation.recover:
        done = operation.recover(call)
        if done is not None:
            return _rendered(call, done)
    if operation.locate is not None and call.located is None:
        call.located = operation.locate(call)
    if operation.page_size:
        call.window = window(call.request.query, operation.page_size)
    if operation.query is not None:
        sent = {name: text for name, text in call.request.query.items() if text}
        call.query = convert(sent, operation.query)
    if operation.form is not None:
        call.form = convert(call.fields.values, operation.form)
    if operation.takes_data and (unsaved := call.container.unsaved()):
        raise NothingIsSaved(date_text(unsaved.since))
    return _rendered(call, operation.view(call))


def _names_none(_: Call) -> None:
    return None


def bearer_token(call: Call) -> str:
    """Take the token from the Authorization header.

    Raises:
        InvalidScheme: the header is missing or no well-formed Bearer.
    """
    found = _BEARER.fullmatch(call.request.header("authorization").strip())
    if found is None:
        raise InvalidScheme
    return found["token"]


def _rendered(call: Call, answer: object) -> Response:
    """Encode what a view returned."""
    headers: dict[str, str | list[str]] = {**call.operation.headers}
    if answer is None:
        return Response(body="", status_code=call.operation.status, headers=headers)
    if isinstance(answer, TextAnswer):
        headers.update({"Content-Type": answer.content_type, **answer.headers})
        return Response(body=answer.body, status_code=call.operation.status, headers=headers)
    if isinstance(answer, ListAnswer):
        headers.update(answer.headers)
        if answer.next_offset is not None:
            page = {"offset": answer.next_offset, "count": answer.count}
            link = next_link(call.request, page)["Link"]
            headers["Link"] = f"{headers['Link']}, {link}" if "Link" in headers else link
        answer = answer.record
    if call.request.version == VERSION_1:
        answer = _as_version_1(answer, call.operation)
    return response(answer, call.operation.status, headers)


def _as_version_1(answer: object, operation: Operation) -> object:
    """Leave the members out that came with version 2.0: typed clients refuse unknown ones."""
    later = members_since_2(operation.answer)
    if not later:
        return answer
    whole = msgspec.json.decode(msgspec.json.encode(answer))
    for record in whole["data"] if operation.is_list else [whole]:
        for name in later & record.keys():
            del record[name]
    return whole


def _add_rate_limits(call: Call, answer: Response) -> None:
    """Put the rate-limit headers on every answer of a metered call whose caller is known."""
    if not call.operation.is_metered or not hasattr(call, "account"):
        return
    try:
        answer.headers.update(rate_limit_headers(call.current_usage()))
    except ServiceError as error:
        # The answer itself stands: it may be the very 503 that made the figures unreadable.
        log.error("rate_limit_headers_left_out", error, operation=call.operation.name)
