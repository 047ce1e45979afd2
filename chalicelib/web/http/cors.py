"""Which pages of other origins may read answers, by the settings; never with credentials.

A page sends its token in a header of its own, so cookies are of no use. See: docs/settings.md
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chalice.app import Response

from chalicelib.domain.common.repeats import KEY_HEADER, REPLAYED_HEADER
from chalicelib.web.http.responses import RATE_LIMIT_HEADERS

ANY = "*"
"""Stands for every origin."""
MAX_AGE_SECONDS = 3_600
"""How long a browser remembers a preflight."""
EXPOSED = ", ".join((*RATE_LIMIT_HEADERS, REPLAYED_HEADER, "Link", "Retry-After"))
"""Headers of answers that a page may read."""
_SENT = f"Authorization, Cache-Control, Content-Type, {KEY_HEADER}"
ALLOW_ORIGIN, _EXPOSE, _VARY = (
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "Vary",
)
OPEN_HEADERS = {ALLOW_ORIGIN: ANY, _EXPOSE: EXPOSED}
"""Of what a gateway answers itself, where some origins are allowed: it says the same to all."""


def cors_headers(allowed: Sequence[str], origin: str) -> dict[str, str]:
    """Return the headers by which a page may read an answer; none when no origin is allowed.

    Args:
        allowed: origins of the settings.
        origin: of the page.
    """
    if ANY in allowed:
        return dict(OPEN_HEADERS)
    if not allowed:
        return {}
    # Answers differ by origin, also the one that allows nothing.
    found = {_VARY: "Origin"}
    return {ALLOW_ORIGIN: origin, _EXPOSE: EXPOSED, **found} if origin in allowed else found


def preflight(methods: Iterable[str]) -> Response:
    """Answer OPTIONS; who may read the answer is added as to every other.

    Args:
        methods: that the path has.
    """
    allowed = ", ".join([*sorted(methods), "OPTIONS"])
    headers: dict[str, str | list[str]] = {
        "Allow": allowed,
        "Access-Control-Allow-Methods": allowed,
        "Access-Control-Allow-Headers": _SENT,
        "Access-Control-Max-Age": str(MAX_AGE_SECONDS),
    }
    return Response(body="", status_code=204, headers=headers)
