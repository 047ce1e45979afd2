"""Clients of version 1.0: `/v1/vision/…` and `/v1/apiusage`, as they called the old service.

Contract section 1, Prefix; Spec: Versioning.
"""

from __future__ import annotations

import pytest

from tests.flows.pictures import folders_zip
from tests.pictures import draw

LATER = {"language", "numOfDuplicates", "algorithm"}
"""Members that the specification has from version 2.0 on, or later."""
V1 = "/v1/vision"
V2 = "/v2/vision"


def without_later(record):
    """Return the part of a record that a client of version 1.0 knows."""
    return {name: value for name, value in record.items() if name not in LATER}


def test_records_have_the_members_of_version_1(gallery, shapes_id, shapes_model, tables_model):
    """Datasets, models, trainings and metrics below /v1 omit members added later."""
    for path in (
        f"datasets/{shapes_id}",
        f"train/{shapes_model}",
        f"train/{tables_model}",
        f"models/{shapes_model}",
        f"models/{tables_model}",
    ):
        old = gallery.send("GET", f"{V1}/{path}").ok
        new = gallery.send("GET", f"{V2}/{path}").ok

        assert LATER & new.keys()
        assert old == without_later(new)
        assert list(old) == list(without_later(new))


def test_lists_have_them_too_and_links_keep_the_prefix(gallery, shapes_id, shapes_model, tables_id):
    """Lists below /v1 omit them too, and their links stay below /v1."""
    assert shapes_model
    assert tables_id
    path = f"datasets/{shapes_id}/models"
    for listed in ("datasets?count=1", path):
        old = gallery.send("GET", f"{V1}/{listed}")
        new = gallery.send("GET", f"{V2}/{listed}")
        assert old.ok["data"] == [without_later(record) for record in new.ok["data"]]
        assert old.ok["data"]
        if new.next_path is not None:
            assert old.next_path == new.next_path.replace("/v2/", "/v1/")
    assert gallery.send("GET", f"{V1}/datasets?count=1").next_path.startswith(f"{V1}/datasets?")
    label = gallery.send("GET", f"{V1}/datasets/{shapes_id}").ok["labelSummary"]["labels"][0]["id"]
    answer = gallery.send("GET", f"{V1}/examples?labelId={label}")
    assert f"<{V1}/examples/{shapes_id}/label/{label}>" in answer.headers["link"]


def test_calls_of_version_1_from_upload_to_deletion(world):
    """A version 1.0 client logs in, uploads, trains, predicts and deletes below /v1."""
    client = world.photographer()
    client.base = V1

    dataset = client.dataset(folders_zip(), file_name="old.zip")
    assert not LATER & dataset.keys()
    model = client.model(dataset["id"], "old", epochs=1)
    fields = {"modelId": model}
    answer = client.multipart(
        "POST", f"{V1}/predict", fields, {"sampleContent": ("a.png", draw(salt=3))}
    )
    assert answer.ok["probabilities"]
    assert int(answer.headers["x-ratelimit-remaining"]) >= 0
    usage = client.send("GET", "/v1/apiusage").ok
    assert usage == client.send("GET", "/v2/apiusage").ok
    deletion = client.send("DELETE", f"{V1}/models/{model}").ok
    assert deletion["object"] == "deletion"


@pytest.mark.parametrize("path", ["/v1/language/datasets", "/v1/health", "/v1/uploads", "/v3/x"])
def test_version_1_has_what_it_had_and_no_more(gallery, path):
    """/v1 has no language family, and later calls exist only below /v2."""
    assert gallery.send("GET", path).status == 404


def test_document_names_version_1_as_a_server(gallery):
    """The document lists each call once, and /v1 as a server next to the root."""
    document = gallery.send("GET", "/v2/openapi.json").ok

    assert [server["url"] for server in document["servers"]] == ["/", "/v1"]
    assert not [path for path in document["paths"] if path.startswith(V1)]
    marked = document["components"]["schemas"]["DatasetRecord"]["properties"]
    assert {name for name, schema in marked.items() if schema.get("x-since") == "2.0"} == {
        "language",
        "numOfDuplicates",
    }
