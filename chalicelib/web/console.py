"""The console: a page for people that speaks the public interface, with nothing from elsewhere.

The files are in chalicelib/assets/console; a test compares those that others made with their
digests. Its content security policy defines what the page may do: its own scripts, and calls to
its own origin and to the bucket of the stage.
"""

from __future__ import annotations

from pathlib import Path

_ASSETS = Path(__file__).parents[1] / "assets"
FOLDER = _ASSETS / "console"
PAGE = "index.html"
SAMPLE = "shop_intents.csv"
"""The data set that a first visit offers."""
HTML = "text/html; charset=utf-8"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
_PLACES = {path.name: path for path in sorted(FOLDER.iterdir()) if path.suffix in _TYPES}
_PLACES[SAMPLE] = _ASSETS / "samples" / SAMPLE
TYPES = {name: _TYPES[path.suffix] for name, path in _PLACES.items()}
"""Files of the page with their content types."""


def page() -> str:
    """Return the page."""
    return (FOLDER / PAGE).read_text(encoding="utf-8")


def text_of(name: str) -> str:
    """Return a file of the page; the name must be one of TYPES."""
    return _PLACES[name].read_text(encoding="utf-8")


def policy(bucket_url: str) -> str:
    """Return what browsers let the page do.

    Args:
        bucket_url: address of the bucket that takes large files and gives out pictures.
    """
    bucket = f"{bucket_url} {bucket_url}/"
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' blob: data: {bucket}; connect-src 'self' {bucket}; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def headers(bucket_url: str) -> dict[str, str]:
    """Return the headers of the page."""
    return {
        "Content-Security-Policy": policy(bucket_url),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-cache",
    }
