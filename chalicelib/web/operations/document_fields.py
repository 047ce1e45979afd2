"""Fields of calls that read one document or a batch of documents. See contract, section 6."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from chalicelib.domain.documents.form_template import FORM_TYPES
from chalicelib.web.operations.fields import FORM_TEMPLATE
from chalicelib.web.operations.operation import Call

Task = Literal["text", "table", "contact", "form"]
FormType = Annotated[
    # A name such as 1040 may be sent as a number.
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
            "They share tableName, rowIndex continues, a repeated header is omitted, and "
            "tableCount counts the table once."
        ),
        examples=[True],
    ),
]
Alphabet = Annotated[
    Literal["documented", "latin"],
    Meta(
        description=(
            "Letters that are recognised: those of English documents, or with `latin` "
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
            "Whether items have a role on their page (tasks text, table and form) and `pageNotes` "
            "says what the answer may lack. For task text, items also have block, line and order, "
            "numbered from 1 in the reading order of the document, and `unread` lists text that "
            "was detected but not read."
        ),
        examples=[True],
    ),
]
Output = Annotated[
    Literal["text", "markdown"],
    Meta(
        description=(
            "Format of the whole text in `document`, in reading order: lines, or "
            "Markdown with headings, lists and tables; for task text."
        ),
        examples=["markdown"],
    ),
]
Pages = Annotated[
    bool,
    Meta(description="Whether `pages` has the size of each page that was read.", examples=[True]),
]
PageFurniture = Annotated[
    bool,
    Meta(
        description=(
            "Whether `document` as Markdown has the running heads and footers of the pages, which "
            "are left out otherwise. Plain text always has them."
        ),
        examples=[True],
    ),
]
PageImages = Annotated[
    bool,
    Meta(
        description=(
            "Whether `pages` also has `image`: the URL of a JPEG of the page, at most 1,600 pixels "
            "a side. URLs are valid for 30 minutes, and the images are deleted after an hour. "
            "PDFs only."
        ),
        examples=[True],
    ),
]
FormFields = Annotated[
    bool,
    Meta(
        description=(
            "Whether `formFields` lists the fields of a PDF's own form: name, type, value, page, "
            "box, and of tick boxes whether they are ticked; at most 10,000. Images have none, "
            "and XFA forms are ignored. Values of task form with tick boxes get `checked`."
        ),
        examples=[True],
    ),
]


def sent_template(call: Call) -> bytes | str | Mapping[str, object] | None:
    """Return the form template that a call sends: bytes, text or object; None if there is none."""
    sent = call.fields.files.get("formTemplate")
    source: bytes | str | Mapping[str, object] | None = call.form.form_template
    return source if sent is None else sent.content
