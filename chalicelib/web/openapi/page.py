"""Serves the documentation page: Swagger UI, which loads nothing from other hosts.

Its files are in chalicelib/assets/docs. A test checks the digests of third-party files.
"""

from __future__ import annotations

from pathlib import Path

# Path of the page.
DOCS = "/v2/docs"
FOLDER = Path(__file__).parents[2] / "assets" / "docs"
# Files of the page with their content types.
TYPES = {
    "docs.css": "text/css; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
}
# Content security policy. Swagger UI sets styles by script, so these must be allowed.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}


def page() -> str:
    """Return the HTML of the documentation page."""
    return text_of("index.html")


def text_of(name: str) -> str:
    """Return the content of a file of the documentation page. The name must be in TYPES."""
    return (FOLDER / name).read_text(encoding="utf-8")
