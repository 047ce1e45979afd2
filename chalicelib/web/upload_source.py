"""The file of an upload: sent in the call as `data`, or named by its address as `path`."""

from __future__ import annotations

from chalicelib.domain.datasets.upload import UploadSource
from chalicelib.errors import BadRequest, MissingParameter
from chalicelib.web.call import Call
from chalicelib.web.request import DUPLICATED

NO_SOURCE = "Uploading a dataset requires either the 'data' field or the 'path' field."


def upload_source(call: Call) -> UploadSource:
    """Take the file or the address, exactly one of which must be there.

    Raises:
        BadRequest: both are there, or none.
    """
    sent, path = call.fields.files.get("data"), call.form.path
    if sent is not None and path is not None:
        raise BadRequest(DUPLICATED, "duplicated_parameter")
    if sent is not None:
        return UploadSource(content=sent.content, file_name=sent.name)
    if path is None:
        raise MissingParameter("data", NO_SOURCE)
    return UploadSource(path=path)
