"""Answers calls with an `Idempotency-Key`: a repeated call gets the stored answer.

A call is a repetition if method, path, query, fields and files are the same. The multipart boundary
may differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from chalice.app import Response

from chalicelib import log
from chalicelib.domain.common.repeats import (
    KEY_HEADER,
    REPLAYED_HEADER,
    KeptAnswer,
    KeyedCall,
    checked_key,
    under_key,
)
from chalicelib.errors import ServiceError, StorageUnavailable
from chalicelib.web.http.request import ApiRequest, BodyFields
from chalicelib.web.http.responses import error_response

if TYPE_CHECKING:
    from chalicelib.stores.accounts.idempotency import IdempotencyStore


def sent_key(request: ApiRequest) -> str | None:
    """Return the digest of the idempotency key in a request; None if there is none."""
    if KEY_HEADER.lower() not in request.headers:
        return None
    return checked_key(request.header(KEY_HEADER))


def request_digest(request: ApiRequest, read: Callable[[], BodyFields]) -> str:
    """Return a digest of everything in a request that must be the same in a repeated call."""
    asked: dict[str, Any] = {
        "method": request.method,
        "path": request.template,
        "parameters": dict(request.parameters),
        "query": dict(request.query),
    }
    try:
        # Fields and not the raw body, because clients choose a new boundary for each attempt.
        fields = read()
        asked["fields"] = fields.values
        asked["files"] = {
            name: [file.name, hashlib.sha256(file.content).hexdigest()]
            for name, file in fields.files.items()
        }
    except ServiceError as error:
        # A body that cannot be read is compared by its bytes.
        asked["refused"] = [error.code, hashlib.sha256(_body(request)).hexdigest()]
    return hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()


def answer_once(
    answers: IdempotencyStore, keyed: KeyedCall, work: Callable[[], Response]
) -> Response:
    """Return the stored answer for an idempotency key, or do the work and store its answer.

    Raises:
        ServiceError: a temporary error of the work, which is not stored.
    """
    if keyed.answer is not None:
        return _repeated(keyed.answer)
    try:
        with under_key(keyed):
            answer = work()
    except ServiceError as error:
        if _is_final(error):
            return _store(answers, keyed, error_response(error))
        _release(answers, keyed)
        raise
    except Exception:
        _release(answers, keyed)
        raise
    return _store(answers, keyed, answer)


def _is_final(error: ServiceError) -> bool:
    """Return whether to store an error as the answer. Temporary errors are not stored."""
    return error.status < 500 and not hasattr(error, "retry_after_seconds")


def _store(answers: IdempotencyStore, keyed: KeyedCall, answer: Response) -> Response:
    """Store the answer of a call. If another attempt has stored an answer, return that answer."""
    made = KeptAnswer(answer.status_code, answer.headers, str(answer.body))
    try:
        first = answers.keep(keyed, made)
    except StorageUnavailable:
        # The work is done, and the next attempt will find its result.
        log.warning("answer_not_kept")
        return answer
    return answer if first is made else _repeated(first)


def _release(answers: IdempotencyStore, keyed: KeyedCall) -> None:
    """Release the idempotency key, so that the next attempt can start at once."""
    # If this fails, the next attempt starts when the lease ends.
    with suppress(StorageUnavailable):
        answers.release(keyed)


def _repeated(answer: KeptAnswer) -> Response:
    headers: dict[str, str | list[str]] = {**answer.headers, REPLAYED_HEADER: "true"}
    return Response(body=answer.body, status_code=answer.status, headers=headers)


def _body(request: ApiRequest) -> bytes:
    body = request.body
    return body if isinstance(body, bytes) else str(body).encode("utf-8", "surrogatepass")
