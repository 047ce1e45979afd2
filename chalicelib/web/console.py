"""Serves the console: a web page that uses the public API and loads nothing from other hosts.

Its files are in chalicelib/assets/console. A test checks the digests of third-party files.
"""

from __future__ import annotations

from pathlib import Path

_ASSETS = Path(__file__).parents[1] / "assets"
FOLDER = _ASSETS / "console"
PAGE = "index.html"
# The dataset that the console offers on the first visit.
SAMPLE = "shop_intents.csv"
HTML = "text/html; charset=utf-8"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
# Listed at import, so that a path of a request never reaches the file system.
_PLACES = {path.name: path for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}
_PLACES[SAMPLE] = _ASSETS / "samples" / SAMPLE
# Files of the page with their content types.
TYPES = {name: _TYPES[path.suffix] for name, path in _PLACES.items()}


def page() -> str:
    """Return the HTML of the console."""
    return (FOLDER / PAGE).read_text(encoding="utf-8")


def text_of(name: str) -> str:
    """Return the content of a file of the console. The name must be in TYPES."""
    return _PLACES[name].read_text(encoding="utf-8")


def policy(bucket_url: str) -> str:
    """Return the content security policy of the console."""
    # Large files go directly to the bucket, and images come from it.
    bucket = f"{bucket_url} {bucket_url}/"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' blob: data: {bucket}; connect-src 'self' {bucket}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def headers(bucket_url: str) -> dict[str, str]:
    """Return the HTTP headers of the console."""
    return {
        "Content-Security-Policy": policy(bucket_url),
        # A page that opened the console may not navigate it or read its address.
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
    }
