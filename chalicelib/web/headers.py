"""Headers of answers: rate limits, and links to the next page. Spec: Limits, rate-limit headers."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from chalicelib.domain.accounts.usage import Usage
from chalicelib.web.event import Incoming

RATE_LIMIT_HEADERS = {
    "X-RateLimit-Limit": "Predictions of the plan a month.",
    "X-RateLimit-Remaining": "Predictions left this month.",
    "X-RateLimit-Reset": "When predictions are next provisioned.",
}


def rate_limit_headers(usage: Usage) -> dict[str, str]:
    """Make the three headers; the reset date is always the first of a month."""
    return {
        "X-RateLimit-Limit": str(usage.limit),
        "X-RateLimit-Remaining": str(usage.remaining),
        "X-RateLimit-Reset": usage.resets_at.strftime("%Y-%m-%d %H:%M:%S") + ".0",
    }


def next_link(request: Incoming, changes: Mapping[str, int]) -> dict[str, str]:
    """Make the `Link` to the next page: the caller's own URL with another offset."""
    query = urlencode({**request.query, **changes})
    path = quote(request.path, safe="/%~:@!$&()*+,;=-._")
    return {"Link": f'<{request.base_url}{path}?{query}>; rel="next"'}
