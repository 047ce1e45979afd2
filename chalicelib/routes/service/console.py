"""The files of the console, and the redirect of `/`. Contract section 1, Success."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from chalicelib.errors import RouteNotFound
from chalicelib.web import console
from chalicelib.web.openapi.page import DOCS
from chalicelib.web.operations.operation import Call, Operation, TextAnswer

CONSOLE = "/console"
FILE_HEADERS = {"Cache-Control": "max-age=300", "X-Content-Type-Options": "nosniff"}


def get_console(call: Call) -> TextAnswer:
    """Return the HTML page of the console."""
    headers = console.headers(call.container.stores.artifacts.bucket_url)
    return TextAnswer(console.page(), console.HTML, headers)


def get_console_file(call: Call) -> TextAnswer:
    """Return a file of the console."""
    name = call.request.parameters["asset"]
    # Only known names, so that a path never leaves the folder.
    if name not in console.TYPES:
        raise RouteNotFound
    return TextAnswer(console.text_of(name), console.TYPES[name], FILE_HEADERS)


def get_root(call: Call) -> TextAnswer:
    """Redirect browsers to the console, and other clients to the documentation."""
    is_browser = "text/html" in call.request.header("accept").lower()
    path = CONSOLE if is_browser else DOCS
    place = call.request.path.rstrip("/") + path
    # The answer depends on `Accept`, so caches must not share it.
    headers = {"Location": quote(place), "Vary": "Accept"}
    return TextAnswer(f'<a href="{escape(place)}">{path}</a>', console.HTML, headers)


OPERATIONS = (
    Operation(
        name="get_root",
        method="GET",
        path="/",
        view=get_root,
        summary="Redirect browsers (`Accept: text/html`) to the console, others to the docs.",
        status=302,
        headers={"Location": DOCS},
        answer_types=("text/html",),
        is_public=True,
    ),
    Operation(
        name="get_console",
        method="GET",
        path=CONSOLE,
        view=get_console,
        summary="Show the console: a page to browse, label, correct and try your data.",
        answer_types=("text/html",),
        is_public=True,
    ),
    Operation(
        name="get_console_file",
        method="GET",
        path=f"{CONSOLE}/{{asset}}",
        view=get_console_file,
        summary="Return a file of the console.",
        answer_types=("text/javascript", "text/css", "text/csv", "text/plain"),
        is_public=True,
        statuses=(404,),
    ),
)
