"""Takes the picture that a call must hold as a file."""

from __future__ import annotations

from chalicelib.domain.datasets.example import PictureFile
from chalicelib.errors import MissingParameter
from chalicelib.web.call import Call


def sent_picture(call: Call, name: str | None) -> PictureFile:
    """Take the file `data` of a form, and the name that was sent beside it.

    Raises:
        MissingParameter: there is no file; a JSON body cannot hold one.
    """
    sent = call.fields.files.get("data")
    if sent is None:
        raise MissingParameter(
            "data",
            "The 'data' parameter is required: send the image as a file of multipart/form-data.",
        )
    return PictureFile(sent.content, sent.name, name or "")
