"""The page that shows the OpenAPI document: Swagger UI, with nothing loaded from elsewhere.

The files are in chalicelib/assets/docs; a test compares third-party ones with their digests.
"""

from __future__ import annotations

from pathlib import Path

DOCS = "/v2/docs"
"""Where the page is."""
FOLDER = Path(__file__).parents[2] / "assets" / "docs"
TYPES = {
    "docs.css": "text/css; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
}
"""Files of the page with their content types."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load: its own files, and styles that its scripts set."""
HEADERS = {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}


def page() -> str:
    """Return the page."""
    return text_of("index.html")


def text_of(name: str) -> str:
    """Return a file of the page; the name must be one of TYPES."""
    return (FOLDER / name).read_text(encoding="utf-8")
