"""The declaration of operations, and the steps in which a call is answered.

Operations are declared in chalicelib/routes. chalicelib/web/openapi describes them. The contract
(section 3) defines the order of the checks: 401, 429 (rate limit), 403 (scope), 404, 400/413/415,
409, 429 (monthly quota), then the work. Errors are converted to answers only here and in
chalicelib/workers.py.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_origin, get_type_hints

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
from chalicelib.errors import InvalidScheme, NotFound, NothingIsSaved, ServiceError
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


@dataclass(eq=False)
class Operation:
    """The declaration of one API operation. It decorates the view, a function that does the work.

    The view returns the record of the answer. The operation has the name of the view. The view's
    docstring becomes the summary in OpenAPI, and its return annotation the type of the answer.
    """

    method: str
    """GET, POST, PUT or DELETE."""
    path: str
    """Path with the placeholder `:family`, and variables in braces."""
    parts: tuple[Any, ...] = ()
    """Types of records that occur in the answer, but not in the declared type of the answer."""
    families: tuple[str, ...] = BOTH
    """Families for which the operation exists, if its path has a family."""
    form: Any = None
    """Struct with the fields of the body; None if there is no body.

    The struct may have these class variables: `form_rules` and `json_rules` add JSON-schema rules
    for forms and for JSON bodies. `media_types` restricts the content types. `missing_texts` has
    the error texts of missing fields.
    """
    files: tuple[str, ...] = ()
    """Names of fields that are files."""
    query: type[msgspec.Struct] | None = None
    """Struct with the query parameters other than `offset` and `count`; None if there are none."""
    page_size: int = 0
    """Default and maximum of `count`; 0 if the list has no pages."""
    list_members: Mapping[str, Any] = field(default_factory=dict)
    """Schemas of optional members that the list has in addition to `object` and `data`."""
    locate: Callable[[Call], object] | None = None
    """Loads the objects whose ids are in the path or the body. Runs after authentication, before
    other checks.
    """
    name_model: Callable[[Call], str | None] | None = None
    """Returns the id of the model in the body, so that its row is read together with the account's.

    It runs before authentication has succeeded, so it must not raise an error.
    """
    takes_key: bool = False
    """Whether the call accepts an idempotency key; always true for an operation with `recover`."""
    creates: str = ""
    """Kind of record whose integer id is reserved for calls with an idempotency key, or ""."""
    recover: Callable[[Call, KeyedCall], object | None] | None = None
    """Returns a record of what an earlier attempt with the same idempotency key did.

    It is called if the earlier attempt stored no answer. The work is repeated if it returns None or
    raises NotFound, or if the operation has no such function.
    """
    takes_data: bool = False
    """Whether the call adds or corrects data. It is refused while changes cannot be saved."""
    is_public: bool = False
    """Whether the call needs no token."""
    cost: str = RECORDS
    """Cost class for the rate limit; without effect on public calls."""
    key_scope: str = ALL
    """Scope that an API key needs: PREDICT or ALL; NO_KEY if API keys are not accepted."""
    is_metered: bool = False
    """Whether every answer of an authenticated call has the rate-limit headers."""
    status: int = 200
    """HTTP status of a successful answer."""
    statuses: tuple[int, ...] = ()
    """Error statuses that do not follow from the other attributes."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers of every successful answer."""
    answer_types: tuple[str, ...] = ("application/json",)
    """Content types of successful answers."""
    aliases: tuple[str, ...] = ()
    """Alternative paths of the operation."""
    versions: tuple[str, ...] = (VERSION_1, VERSION_2)
    """Path prefixes of the operation. `/v1` has no effect on paths that version 1.0 lacks."""
    takes_urlencoded: bool = False
    """Whether the body may also be `application/x-www-form-urlencoded`."""
    is_deprecated: bool = False
    """Whether the operation is deprecated, because another one replaces it."""
    view: Callable[[Call], object] = field(init=False)

    def __post_init__(self) -> None:
        """Set `takes_key`: an operation with `recover` accepts an idempotency key."""
        self.takes_key = self.takes_key or self.recover is not None

    def __call__(self, view: Callable[[Call], object]) -> Operation:
        """Decorate a view, and return the operation in its place."""
        self.view = view
        return self

    @property
    def name(self) -> str:
        """Return the unique name, which is also the `operationId` in OpenAPI."""
        return self.view.__name__

    @property
    def summary(self) -> str:
        """Return the text that describes the operation in OpenAPI."""
        return " ".join((self.view.__doc__ or "").split())

    @property
    def group(self) -> str:
        """Return the section of the call in the OpenAPI document, one of GROUPS."""
        return self.view.__module__.split(".")[-2]

    @cached_property
    def _returned(self) -> Any:
        # Resolved at the first use, because it would make the import of all routes slow.
        return get_type_hints(self.view).get("return")

    @property
    def is_list(self) -> bool:
        """Return whether the answer is a list of records of type `answer`."""
        return get_origin(self._returned) is ListAnswer

    @property
    def answer(self) -> Any:
        """Return the type of the answer's record, or a union; None if the answer has no record."""
        if self.is_list:
            return get_args(self._returned)[0]
        has_record = self._returned not in (type(None), NoReturn, TextAnswer)
        return self._returned if has_record else None

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the method of the operation; for GET, also HEAD."""
        return (self.method, "HEAD") if self.method == "GET" else (self.method,)

    def routes(self) -> Iterator[tuple[str, str]]:
        """Yield the family and the path of each documented path; paths are relative to `/v2`."""
        return self._paths() if VERSION_2 in self.versions else iter(())

    def served_paths(self) -> Iterator[tuple[str, str]]:
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
    """One call of an operation, with everything that is known of it so far."""

    operation: Operation
    """The operation that is called."""
    family: str
    """`language`, `vision`, or empty if the path has no family."""
    request: ApiRequest
    make_container: Callable[[], Container]
    """Returns the container of services; called when a service is first needed."""
    catalogue: tuple[Operation, ...] = ()
    """All operations, from which the OpenAPI document is made."""
    account: Account = field(init=False)
    """The authenticated account; not set for public operations."""
    scope: str = ALL
    """Scope of the caller's token or API key."""
    target: Any = None
    """The result of `Operation.locate`, or the model that was read together with the account."""
    form: Any = None
    """The validated body, an instance of the operation's form."""
    query: Any = None
    """The validated query parameters."""
    window: Window = field(init=False)
    """The requested part of a paged list."""
    usage: Usage | None = None
    """Predictions of the month, including this call's; None if the call makes no prediction."""
    keyed: KeyedCall | None = None
    """The claimed idempotency key; None if none was sent."""
    started: float = field(default_factory=time.monotonic)
    """When the call began, in seconds of the monotonic clock."""

    @cached_property
    def container(self) -> Container:
        """Return the container of services."""
        return self.make_container()

    @cached_property
    def fields(self) -> BodyFields:
        """Return the fields of the body, which are parsed at the first use."""
        form, known = self.operation.form, [*self.operation.files]
        if form is not None:
            known += field_names(form)
        return read_fields(self.request, known, takes_urlencoded=self.operation.takes_urlencoded)

    @property
    def seconds_left(self) -> float:
        """Return how many seconds a synchronous call may still take."""
        limit = self.container.settings.sync_seconds
        return float("inf") if limit == 0 else max(0.0, limit - (time.monotonic() - self.started))

    def current_usage(self) -> Usage:
        """Return the account's usage of predictions in the current month."""
        return self.usage or self.container.allowances.predictions(self.account)


_BEARER = re.compile(r"bearer +(?P<token>[A-Za-z0-9\-._~+/]+=*) *", re.IGNORECASE)


@dataclass(frozen=True)
class TextAnswer:
    """An answer whose body is not JSON, such as an HTML page."""

    body: str
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """Additional headers."""


def run(call: Call) -> Response:
    """Return the response to a call. An error becomes a response as well."""
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
    """Authenticate the caller, check the rate limit, then answer the call."""
    operation = call.operation
    if not operation.is_public:
        name_model = partial(operation.name_model or _names_none, call)
        caller = _find_caller(call, name_model)
        call.account, call.target = caller.account, caller.model
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
    """Return the account and the model of a call, given its access token or API key."""
    token = bearer_token(call)
    if token.startswith(PREFIX):
        return call.container.api_keys.find_caller(token, name_model)
    return call.container.tokens.find_caller(token, name_model)


def _answer_once(call: Call, key: str) -> Response:
    """Return the stored answer for an idempotency key, or do the work and store its answer."""
    answers = call.container.stores.idempotency
    reserve = partial(call.container.reserve_id, call.operation.creates)
    digest = request_digest(call.request, lambda: call.fields)
    call.keyed = answers.claim(call.account.account_id, key, digest, reserve)
    return answer_once(answers, call.keyed, partial(_work, call))


def _work(call: Call) -> Response:
    """Load the objects of the call, check its fields, and do the work."""
    operation, keyed = call.operation, call.keyed
    # The earlier attempt may have died after its work, so its result is looked up first.
    if keyed and keyed.is_taken_over and operation.recover:
        with suppress(NotFound):
            done = operation.recover(call, keyed)
            if done is not None:
                return _rendered(call, done)
    # The order of the contract: unknown objects (404) before invalid fields (400).
    if operation.locate is not None and call.target is None:
        call.target = operation.locate(call)
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
    """Return the token in the Authorization header; raise InvalidScheme if there is none."""
    found = _BEARER.fullmatch(call.request.header("authorization").strip())
    if found is None:
        raise InvalidScheme
    return found["token"]


def _rendered(call: Call, answer: object) -> Response:
    """Return the response with the record that the operation's view returned."""
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
            # A deprecated list already has a link to its successor.
            headers["Link"] = f"{headers['Link']}, {link}" if "Link" in headers else link
        answer = answer.record
    if call.request.version == VERSION_1:
        answer = _as_version_1(answer, call.operation)
    return response(answer, call.operation.status, headers)


def _as_version_1(answer: object, operation: Operation) -> object:
    """Return an answer without the members that version 2.0 of the API added."""
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
    """Add the rate-limit headers if the operation is metered and the caller is known."""
    if not call.operation.is_metered or not hasattr(call, "account"):
        return
    try:
        answer.headers.update(rate_limit_headers(call.current_usage()))
    except ServiceError as error:
        # The answer is sent without them; it may be the same 503 that made the count unreadable.
        log.error("rate_limit_headers_left_out", error, operation=call.operation.name)
