"""The files of the console, and the redirect of `/`. See contract, section 1, Success."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from chalicelib.errors import RouteNotFound
from chalicelib.web import console
from chalicelib.web.openapi.page import DOCS
from chalicelib.web.operations.operation import Call, Operation, TextAnswer

CONSOLE = "/console"
FILE_HEADERS = {"Cache-Control": "max-age=300", "X-Content-Type-Options": "nosniff"}


@Operation(
    "GET", "/", status=302, headers={"Location": DOCS}, answer_types=("text/html",), is_public=True
)
def get_root(call: Call) -> TextAnswer:
    """Redirect browsers (`Accept: text/html`) to the console, others to the docs."""
    is_browser = "text/html" in call.request.header("accept").lower()
    path = CONSOLE if is_browser else DOCS
    place = call.request.path.rstrip("/") + path
    # The answer depends on `Accept`, so caches must not share it.
    headers = {"Location": quote(place), "Vary": "Accept"}
    return TextAnswer(f'<a href="{escape(place)}">{path}</a>', console.HTML, headers)


@Operation("GET", CONSOLE, answer_types=("text/html",), is_public=True)
def get_console(call: Call) -> TextAnswer:
    """Show the console: a page to browse, label, correct and try your data."""
    headers = console.headers(call.container.stores.artifacts.bucket_url)
    return TextAnswer(console.page(), console.HTML, headers)


@Operation(
    "GET",
    f"{CONSOLE}/{{asset}}",
    answer_types=("text/javascript", "text/css", "text/csv", "text/plain"),
    is_public=True,
    statuses=(404,),
)
def get_console_file(call: Call) -> TextAnswer:
    """Return a file of the console."""
    name = call.request.parameters["asset"]
    # Only known names, so that a path never leaves the folder.
    if name not in console.TYPES:
        raise RouteNotFound
    return TextAnswer(console.text_of(name), console.TYPES[name], FILE_HEADERS)
