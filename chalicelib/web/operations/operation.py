"""The declaration of operations, and the steps that answer a call.

Declared in chalicelib/routes, described by chalicelib/web/openapi. The order of the checks is the
contract's (section 3): 401, 429 of a rate, 403 of a scope, 404, 400/413/415, 409, 429 of an
allowance, work. Errors become answers here and in chalicelib/workers.py only.
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
from chalicelib.domain.accounts.account import Account, ApiCaller
from chalicelib.domain.accounts.api_key import ALL, PREFIX, check_scope
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
# The folders of chalicelib/routes in the order of use; the sections of the OpenAPI document.
GROUPS: Mapping[str, str] = {
    "accounts": "Tokens, API keys, webhooks, plan and predictions of the month.",
    "datasets": "Labelled texts or images: upload, browse, correct and extend them.",
    "models": "Train models on datasets, follow their training, and read their metrics.",
    "predictions": "Predict labels of texts and images, detect objects, and read documents.",
    "service": "Progress of deletions, health of the service, and this document.",
}
# Placeholder of the family in a path.
FAMILY = ":family"


@dataclass(frozen=True)
class Operation:
    """The declaration of one API operation."""

    name: str
    """Unique; the `operationId` of the document."""
    method: str
    """GET, POST, PUT or DELETE."""
    path: str
    """Path with the placeholder `:family`, and variables in braces."""
    view: Callable[[Call], object]
    """Function that does the work and returns the answer record."""
    summary: str
    """One sentence for the OpenAPI document."""
    answer: Any = None
    """Type of the answer record, or a union of several; None if there is no body."""
    parts: tuple[Any, ...] = ()
    """Records inside the answer that its type does not name."""
    families: tuple[str, ...] = ()
    """Families of the path; none if it has no family."""
    form: Any = None
    """Struct of the body's fields; None without a body.

    Optional class variables: `form_rules` and `json_rules` complete its schema by content type,
    `media_types` restricts the content types, `missing_texts` are errors of missing fields.
    """
    files: tuple[str, ...] = ()
    """Names of fields that are files."""
    query: type[msgspec.Struct] | None = None
    """Struct of the query parameters other than `offset` and `count`."""
    page_size: int = 0
    """Default and maximum `count` of a paged list; 0 for an unpaged one."""
    is_list: bool = False
    """Whether the answer is a list of records of the struct `answer`."""
    list_members: Mapping[str, Any] = field(default_factory=dict)
    """Schemas of optional members of the list in addition to `object` and `data`."""
    locate: Callable[[Call], object] | None = None
    """Loads the objects of path and body; runs after the 401 and before other checks."""
    name_model: Callable[[Call], str | None] | None = None
    """Returns the id of the body's model, whose row is read in one trip with the account's.

    It runs before the 401 is certain, so it must not raise.
    """
    takes_key: bool = False
    """Whether the call accepts an `Idempotency-Key`."""
    creates: str = ""
    """Kind of the integer id that is reserved with a key; empty for none."""
    recover: Callable[[Call], object | None] | None = None
    """Returns the answer record of an earlier attempt with the same key, or None.

    Called first if the earlier attempt left no answer. None if the work can be repeated.
    """
    takes_data: bool = False
    """Whether the call adds or corrects data, which is refused while saving fails."""
    is_public: bool = False
    """Whether the call needs no token."""
    cost: str = RECORDS
    """Cost class for the rate limit; not used for public calls."""
    key_scope: str = ALL
    """Scope that an API key needs: PREDICT, ALL, or NO_KEY if no key may make the call."""
    is_metered: bool = False
    """Whether every answer after the 401 has the rate-limit headers."""
    status: int = 200
    """Status of success."""
    statuses: tuple[int, ...] = ()
    """Error statuses in addition to those that follow from other members."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every successful answer."""
    answer_types: tuple[str, ...] = ("application/json",)
    """Content types of successful answers."""
    aliases: tuple[str, ...] = ()
    """Alternative paths."""
    versions: tuple[str, ...] = (VERSION_1, VERSION_2)
    """Prefixes below which it answers; only paths of version 1.0 answer below `/v1`."""
    takes_urlencoded: bool = False
    """Whether the call also accepts `application/x-www-form-urlencoded`."""
    is_deprecated: bool = False
    """Whether another operation replaces it."""
    group: str = ""
    """Section of the call in the OpenAPI document, one of GROUPS."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The method of the operation, and HEAD in addition to GET."""
        return (self.method, "HEAD") if self.method == "GET" else (self.method,)

    def routes(self) -> Iterator[tuple[str, str]]:
        """Yield (family, path) for each documented path, which is below `/v2`."""
        return self._paths() if VERSION_2 in self.versions else iter(())

    def served(self) -> Iterator[tuple[str, str]]:
        """Yield (family, path) for each path, including those of version 1.0."""
        yield from self.routes()
        for family, path in self._paths():
            old = path.replace(VERSION_2, VERSION_1, 1)
            if VERSION_1 in self.versions and old.startswith(OLD_PATHS):
                yield family, old

    def _paths(self) -> Iterator[tuple[str, str]]:
        """Yield (family, path) for each declared path."""
        for path in (self.path, *self.aliases):
            if FAMILY in path:
                for family in self.families:
                    yield family, path.replace(FAMILY, family)
            else:
                named = [f for f in self.families if f"/{f}/" in path] or self.families
                yield (named[0] if len(named) == 1 else ""), path


@dataclass
class Call:
    """The state of one running call of an operation."""

    operation: Operation
    """The called operation."""
    family: str
    """`language`, `vision`, or empty if the path has no family."""
    request: ApiRequest
    make_container: Callable[[], Container]
    """Returns the services; called at their first use."""
    catalogue: tuple[Operation, ...] = ()
    """All operations, for the OpenAPI document."""
    account: Account = field(init=False)
    """The caller; not set for public operations."""
    scope: str = ALL
    """What the caller's token or API key may do."""
    located: Any = None
    """The model read with the account, or the result of `locate`."""
    form: Any = None
    """The validated body, an instance of the operation's form."""
    query: Any = None
    """The validated query parameters."""
    window: Window = field(init=False)
    """The requested part of a paged list."""
    usage: Usage | None = None
    """The predictions of the month after this call made one."""
    keyed: KeyedCall | None = None
    """The claim of the idempotency key; None without a key."""
    started: float = field(default_factory=time.monotonic)
    """Start of the call in seconds of the monotonic clock."""

    @cached_property
    def container(self) -> Container:
        """The services."""
        return self.make_container()

    @cached_property
    def fields(self) -> BodyFields:
        """The fields of the body, read at the first use."""
        form, known = self.operation.form, [*self.operation.files]
        if form is not None:
            known += field_names(form)
        return read_fields(self.request, known, takes_urlencoded=self.operation.takes_urlencoded)

    @property
    def seconds_left(self) -> float:
        """Remaining time of a synchronous call, in seconds."""
        limit = self.container.settings.sync_seconds
        return float("inf") if limit == 0 else max(0.0, limit - (time.monotonic() - self.started))

    def current_usage(self) -> Usage:
        """Return the predictions of the month, for the rate-limit headers."""
        return self.usage or self.container.allowances.predictions(self.account)


_BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)


@dataclass(frozen=True)
class TextAnswer:
    """An answer that is not JSON, such as an HTML page."""

    body: str
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers."""


def run(call: Call) -> Response:
    """Return the response to a call; an error becomes a response, too."""
    try:
        with until_answered(call.operation.name):
            answer = _answer(call)
    except ServiceError as error:
        call.usage = None
        answer = error_response(error)
    except Exception as exception:  # noqa: BLE001 - the outermost edge: no caller may see a trace
        # The counted prediction has been released.
        call.usage = None
        log.error("unforeseen_failure", exception, operation=call.operation.name)
        answer = internal_error()
    _add_rate_limits(call, answer)
    return answer


def _answer(call: Call) -> Response:
    """Authenticate the caller, check its rate, then do the work."""
    operation = call.operation
    if not operation.is_public:
        name_model = partial(operation.name_model or _names_none, call)
        caller = _find_caller(call, name_model)
        call.account, call.located = caller.account, caller.model
        log.add(account=call.account.account_id)
        call.container.rates.check(call.account, operation.cost)
        if caller.key is not None:
            call.scope = caller.key.scope
            # Before a stored answer could be repeated and before any object is looked up.
            check_scope(call.scope, operation.key_scope)
        key = sent_key(call.request) if operation.takes_key else None
        if key is not None:
            return _answer_once(call, key)
    return _work(call)


def _find_caller(call: Call, name_model: Callable[[], str | None]) -> ApiCaller:
    """Return the caller of an access token or an API key."""
    token = bearer_token(call)
    if token.startswith(PREFIX):
        return call.container.api_keys.find_caller(token, name_model)
    return call.container.tokens.find_caller(token, name_model)


def _answer_once(call: Call, key: str) -> Response:
    """Return the stored answer of the key, or do the work."""
    answers = call.container.idempotency
    reserve = partial(call.container.reserve_id, call.operation.creates)
    digest = request_digest(call.request, lambda: call.fields)
    call.keyed = answers.claim(call.account.account_id, key, digest, reserve)
    return answer_once(answers, call.keyed, partial(_work, call))


def _work(call: Call) -> Response:
    """Load the objects of the call, validate its fields, and do the work."""
    operation, keyed = call.operation, call.keyed
    # The earlier attempt may have died after its work, so its result is looked up first.
    if keyed and keyed.is_taken_over and operation.recover:
        done = operation.recover(call)
        if done is not None:
            return _rendered(call, done)
    # The order of the contract: unknown objects (404) before invalid fields (400).
    if operation.locate is not None and call.located is None:
        call.located = operation.locate(call)
    if operation.page_size:
        call.window = window(call.request.query, operation.page_size)
    if operation.query is not None:
        sent = {name: text for name, text in call.request.query.items() if text}
        call.query = convert(sent, operation.query)
    if operation.form is not None:
        call.form = convert(call.fields.values, operation.form)
    # Last, so that the caller sees its own errors first.
    if operation.takes_data and (unsaved := call.container.unsaved()):
        raise NothingIsSaved(date_text(unsaved.since))
    return _rendered(call, operation.view(call))


def _names_none(_: Call) -> None:
    return None


def bearer_token(call: Call) -> str:
    """Return the token of the Authorization header; raise InvalidScheme if there is none."""
    found = _BEARER.fullmatch(call.request.header("authorization").strip())
    if found is None:
        raise InvalidScheme
    return found["token"]


def _rendered(call: Call, answer: object) -> Response:
    """Return the response for the answer of a view."""
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
            # A deprecated list already links its successor.
            headers["Link"] = f"{headers['Link']}, {link}" if "Link" in headers else link
        answer = answer.record
    if call.request.version == VERSION_1:
        answer = _as_version_1(answer, call.operation)
    return response(answer, call.operation.status, headers)


def _as_version_1(answer: object, operation: Operation) -> object:
    """Return an answer without the members that version 2.0 added."""
    # Typed clients of version 1.0 refuse unknown members.
    later = members_since_2(operation.answer)
    if not later:
        return answer
    whole = msgspec.json.decode(msgspec.json.encode(answer))
    for record in whole["data"] if operation.is_list else [whole]:
        for name in later & record.keys():
            del record[name]
    return whole


def _add_rate_limits(call: Call, answer: Response) -> None:
    """Add the rate-limit headers to the answers of metered calls with a known caller."""
    if not call.operation.is_metered or not hasattr(call, "account"):
        return
    try:
        answer.headers.update(rate_limit_headers(call.current_usage()))
    except ServiceError as error:
        # The answer is sent without them; it may be the same 503 that made the count unreadable.
        log.error("rate_limit_headers_left_out", error, operation=call.operation.name)
