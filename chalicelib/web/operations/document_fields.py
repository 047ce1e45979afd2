"""Fields of calls that read documents, one by one or as a batch. Contract section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from chalicelib.domain.documents.form_template import FORM_TYPES
from chalicelib.web.operations.form_template import FORM_TEMPLATE
from chalicelib.web.operations.operation import Call

Task = Literal["text", "table", "contact", "form"]
FormType = Annotated[
    str | int,
    Meta(
        description="Standard form to read; for task form only.",
        extra_json_schema={"enum": [*FORM_TYPES]},
    ),
]
Template = (
    Annotated[str, Meta(description="A form template as JSON; for task form only.")]
    | Annotated[dict[str, Any], Meta(extra_json_schema=FORM_TEMPLATE)]
)
LinkTables = Annotated[
    bool,
    Meta(
        description=(
            "Whether parts of one table on several pages are linked; for tasks table and form. "
            "They share tableName, rowIndex goes on, a repeated header is left out, and "
            "tableCount counts the table once."
        ),
        examples=[True],
    ),
]
Alphabet = Annotated[
    Literal["documented", "latin"],
    Meta(
        description=(
            "Letters that recognised text may have: those of English documents, or with `latin` "
            "also the accented letters of German, French, Spanish, Portuguese, Italian, Dutch, "
            "Polish and the Scandinavian languages."
        ),
        examples=["latin"],
    ),
]
Layout = Annotated[
    bool,
    Meta(
        description=(
            "Whether items tell block, line and order, numbers from 1 over the whole document as "
            "people read it, and `unread` lists where text was found but not read; for task text."
        ),
        examples=[True],
    ),
]
Output = Annotated[
    Literal["text", "markdown"],
    Meta(
        description=(
            "How the whole text is written into `document`, in reading order: as lines, or as "
            "Markdown with headings, lists and tables; for task text."
        ),
        examples=["markdown"],
    ),
]
Pages = Annotated[
    bool,
    Meta(description="Whether `pages` tells the size of each page that was read.", examples=[True]),
]


def sent_template(call: Call) -> bytes | str | Mapping[str, object] | None:
    """Return the template that a call sends as a file, a text or an object; None without one."""
    sent = call.fields.files.get("formTemplate")
    source: bytes | str | Mapping[str, object] | None = call.form.form_template
    return source if sent is None else sent.content
