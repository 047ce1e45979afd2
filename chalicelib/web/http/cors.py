"""Headers that let web pages of other origins read answers. See docs/settings.md.

Credentials are never allowed. A page sends its token in a header and needs no cookies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chalice.app import Response

from chalicelib.domain.common.repeats import KEY_HEADER, REPLAYED_HEADER
from chalicelib.web.http.responses import RATE_LIMIT_HEADERS

# The setting that allows any origin.
ANY = "*"
# How long browsers cache a preflight, so that not every call costs two.
MAX_AGE_SECONDS = 3_600
# Headers of answers that a page may read.
EXPOSED = ", ".join((*RATE_LIMIT_HEADERS, REPLAYED_HEADER, "Link", "Retry-After"))
_SENT = f"Authorization, Cache-Control, Content-Type, {KEY_HEADER}"
ALLOW_ORIGIN, _EXPOSE, _VARY = (
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
    "Vary",
)
# Headers of answers that the gateway makes itself; it cannot vary them by origin.
OPEN_HEADERS = {ALLOW_ORIGIN: ANY, _EXPOSE: EXPOSED}


def cors_headers(allowed: Sequence[str], origin: str) -> dict[str, str]:
    """Return the CORS headers of an answer, given the allowed origins and the page's origin."""
    if ANY in allowed:
        return dict(OPEN_HEADERS)
    if not allowed:
        return {}
    # Answers differ by origin, even those that allow nothing, so caches must not share them.
    found = {_VARY: "Origin"}
    return {ALLOW_ORIGIN: origin, _EXPOSE: EXPOSED, **found} if origin in allowed else found


def preflight(methods: Iterable[str]) -> Response:
    """Return the answer to an OPTIONS request for a path that has these methods."""
    allowed = ", ".join([*sorted(methods), "OPTIONS"])
    headers: dict[str, str | list[str]] = {
        "Allow": allowed,
        "Access-Control-Allow-Methods": allowed,
        "Access-Control-Allow-Headers": _SENT,
        "Access-Control-Max-Age": str(MAX_AGE_SECONDS),
    }
    return Response(body="", status_code=204, headers=headers)
