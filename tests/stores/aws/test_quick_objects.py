"""S3 calls that tests answer directly have the answers of requests."""

from __future__ import annotations

import io
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests import quick_objects
from tests.quick_aws import keep_clients, make_requests

KEY = "datasets/1/ä b+c%20&d.txt"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("put_object", {"Key": KEY, "Body": b"content"}),
    ("put_object", {"Key": "datasets/2", "Body": io.BytesIO(b"of a file")}),
    (
        "put_object",
        {"Key": "pictures/1", "Body": b"", "ContentType": "image/png", "Metadata": {"a": "b"}},
    ),
    ("get_object", {"Key": KEY}),
    ("get_object", {"Key": "pictures/1"}),
    ("get_object", {"Key": "pictures/1", "ResponseContentType": "text/plain"}),
    ("get_object", {"Key": KEY, "Range": "bytes=1-3"}),
    ("get_object", {"Key": KEY, "IfMatch": '"other"'}),
    ("get_object", {"Key": "unknown"}),
    ("head_object", {"Key": "pictures/1"}),
    ("head_object", {"Key": "unknown"}),
    ("list_objects_v2", {"Prefix": "datasets/1/ä"}),
    ("list_objects_v2", {}),
    ("list_objects_v2", {"Prefix": "unknown"}),
    ("list_objects_v2", {"MaxKeys": 1}),
    ("list_objects_v2", {"Prefix": "", "Delimiter": "/"}),
    ("put_object", {"Bucket": "unknown", "Key": "a", "Body": b""}),
    ("delete_object", {"Key": KEY}),
    ("delete_object", {"Key": KEY}),
    ("list_objects_v2", {"Prefix": "datasets/"}),
]
FOR_EACH_CALL = ("ResponseMetadata", "LastModified", "NextContinuationToken", "ChecksumAlgorithm")


def answers(s3: Any, bucket: str) -> list[Any]:
    """Make all calls and return what does not differ from call to call."""
    return [_answer(getattr(s3, name), {"Bucket": bucket, **asked}) for name, asked in CALLS]


def _answer(call: Any, asked: dict[str, Any]) -> Any:
    """Return the answer or the error of one call."""
    body = asked.get("Body")
    if isinstance(body, io.BytesIO):
        asked = {**asked, "Body": io.BytesIO(body.getvalue())}
    try:
        found = call(**asked)
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        return error.operation_name, status, str(error), error.response["Error"]
    status = found["ResponseMetadata"]["HTTPStatusCode"]
    if "Body" in found:
        found["Body"] = found["Body"].read()
    entries = [
        {name: value for name, value in entry.items() if name != "LastModified"}
        for entry in found.get("Contents", ())
    ]
    rest = {name: value for name, value in found.items() if name not in FOR_EACH_CALL}
    return status, {**rest, "Contents": entries}


def test_direct_answers_are_those_of_requests(clients, settings, monkeypatch) -> None:
    """Objects, properties, lists and errors are the same, whichever way a call takes."""
    direct: list[str] = []
    general = quick_objects.answer

    def answer(operation: str, params: dict[str, Any]) -> Any:
        found = general(operation, params)
        direct.extend([operation] * (found is not None))
        return found

    monkeypatch.setattr(quick_objects, "answer", answer)
    found = answers(clients.s3, settings.bucket)
    assert len(direct) == 14

    keep_clients()
    make_requests(clients.s3)
    assert answers(clients.s3, settings.bucket) == found
    assert len(direct) == 14


@pytest.mark.parametrize("operation", ["get_object", "list_objects_v2"])
def test_moments_are_those_of_requests(clients, settings, operation: str) -> None:
    """The time of the last change is to the second, with its zone."""
    asked = {"Key": "a"} if operation == "get_object" else {}
    clients.s3.put_object(Bucket=settings.bucket, Key="a", Body=b"")

    def moment() -> Any:
        found = getattr(clients.s3, operation)(Bucket=settings.bucket, **asked)
        return found.get("Contents", [found])[0]["LastModified"]

    direct = moment()
    keep_clients()
    make_requests(clients.s3)
    assert direct == moment()


def test_parts_are_those_of_requests(clients, settings) -> None:
    """An object in parts is the same, whichever way its parts take."""

    def upload() -> Any:
        place = {"Bucket": settings.bucket, "Key": "parts"}
        place["UploadId"] = clients.s3.create_multipart_upload(**place)["UploadId"]
        sent = [
            clients.s3.upload_part(**place, PartNumber=number, Body=content)
            for number, content in ((1, b"1" * (5 << 20)), (2, io.BytesIO(b"2")))
        ]
        parts = [{"PartNumber": n, "ETag": part["ETag"]} for n, part in enumerate(sent, 1)]
        clients.s3.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})
        del place["UploadId"]
        return sent[0]["ChecksumCRC32"], parts, _answer(clients.s3.get_object, place)

    direct = upload()
    keep_clients()
    make_requests(clients.s3)
    assert upload() == direct
