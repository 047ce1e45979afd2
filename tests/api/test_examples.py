"""Examples: pages, the monthly limit of example calls, labels by id and position."""

from __future__ import annotations

import pytest

from tests.api.prepared import DATASET_ID, DELIVERY, EXAMPLES, NEXT_ID, raising

URL = f"/v2/language/datasets/{DATASET_ID}/examples"


def test_page_links_to_the_next(call):
    """Each page except the last links to the next one and keeps the call's query."""
    answer = call("GET", URL + "?source=all&count=2", x_forwarded_proto="https")

    assert len({item["id"] for item in answer.json["data"]}) == 2
    link = f"<https://api.example.test{URL}?source=all&count=2&offset=2>"
    assert f'{link}; rel="next"' == answer.headers["Link"]
    assert "Link" not in call("GET", URL + "?offset=2").headers


def test_link_is_a_path_when_the_host_cannot_be_trusted(call):
    """An invalid Host header is never echoed in a link."""
    answer = call("GET", URL + "?count=1", host='evil">')

    assert answer.headers["Link"].startswith(f"<{URL}?count=1&offset=1>")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("count=0", "'count' parameter is not valid: it must be at least 1, got 0."),
        ("count=-1", "at least 1"),
        ("offset=-1", "'offset' parameter is not valid: it must be at least 0, got -1."),
        ("offset=1.0", "expected a whole number, got '1.0'."),
        ("offset=x", "expected a whole number"),
        ("offset=%D9%A3", "expected a whole number"),
        ("offset=-" + "9" * 40, "at least 0"),
        ("source=both", "'both' is not one of upload, feedback, all."),
    ],
)
def test_wrong_pages_are_400_and_cost_nothing(call, world, query, text):
    """Offsets and counts that are not whole numbers are refused before the call is counted."""
    answer = call("GET", f"{URL}?{query}")

    assert answer.status == 400
    assert text in answer.json["message"]
    assert world.used(EXAMPLES) == 0


@pytest.mark.parametrize("query", [f"offset={2**63}", "offset=" + "9" * 5000, "offset=100"])
def test_offset_past_the_end_is_an_empty_page(call, query):
    """An offset past the end gives an empty page."""
    answer = call("GET", f"{URL}?{query}")

    assert (answer.status, answer.json) == (200, {"object": "list", "data": []})


def test_count_over_the_maximum_is_clamped(call, world):
    """A larger count returns the maximum."""
    world.dataset_of(101)
    answer = call("GET", f"/v2/language/datasets/{NEXT_ID}/examples?count={2**70}")

    assert len(answer.json["data"]) == 100


def test_calls_are_counted_when_they_succeed(call, world, storage_down, monkeypatch):
    """Only answers with 200 count toward the 30 example calls; the 31st is refused."""
    world.use(EXAMPLES, 29)
    monkeypatch.setattr(world.stores.examples, "read_many", raising(storage_down()))
    assert call("GET", URL).status == 503
    monkeypatch.undo()

    assert call("GET", URL).status == 200
    refused = call("GET", URL)

    assert (refused.status, refused.headers["Retry-After"]) == (429, "60")
    assert world.used(EXAMPLES) == 30


@pytest.mark.parametrize("label", [DELIVERY, "1"])
def test_label_is_found_by_id_or_position(call, label):
    """The last segment is the label's id, or its position in the dataset."""
    assert call("GET", f"/v2/language/examples/{DATASET_ID}/label/{label}").status == 200


@pytest.mark.parametrize(
    "url",
    [f"/v2/language/examples/{DATASET_ID}/label/x", f"/v2/language/examples/8/label/{DELIVERY}"],
)
def test_unknown_label_is_404(call, world, url):
    """An unknown dataset or label is a 404 and is not counted."""
    assert (call("GET", url).status, world.used(EXAMPLES)) == (404, 0)


def test_deprecated_list_says_so(call):
    """The deprecated list has headers for its deprecation and its successor."""
    answer = call("GET", f"/v2/language/examples?labelId={DELIVERY}&count=1")

    assert answer.status == 200
    assert answer.headers["Deprecation"] == "@1606953600"
    assert "GMT" in answer.headers["Sunset"]
    successor, following = answer.headers["Link"].split(", ")
    assert (
        successor
        == f'</v2/language/examples/{DATASET_ID}/label/{DELIVERY}>; rel="successor-version"'
    )
    assert following.endswith(f'?labelId={DELIVERY}&count=1&offset=1>; rel="next"')


@pytest.mark.parametrize(("query", "status"), [("", 400), ("?labelId=x", 400), ("?labelId=5", 404)])
def test_deprecated_list_needs_a_label(call, query, status):
    """A missing or malformed label id is a 400, an unknown one a 404."""
    assert call("GET", "/v2/language/examples" + query).status == status


def test_examples_of_a_dataset_being_deleted_are_gone(call, world):
    """The examples of a dataset being deleted are a 404, not a 429, even with the quota used up."""
    world.set_dataset("DELETION_PENDING")
    world.use(EXAMPLES, 30)

    assert call("GET", URL).status == 404


def test_single_text_is_added(call, world):
    """A text is added by label id and is not trimmed."""
    answer = call.form(
        "POST", URL, ("document", b" where ", None), ("labelId", str(DELIVERY).encode(), None)
    )

    assert answer.json["object"] == "example"
    assert answer.json["name"] == " where "
    listed = call("GET", f"{URL}?source=all&offset=12").json["data"]
    assert [(item["name"], item["label"]["id"]) for item in listed] == [(" where ", DELIVERY)]


def test_list_whose_answer_fails_is_not_counted(call, world, monkeypatch):
    """If encoding the answer fails, the call does not count toward the monthly limit."""

    def fail(*given):
        raise ValueError

    monkeypatch.setattr("chalicelib.routes.datasets.examples.describe.example", fail)
    before = world.used(EXAMPLES)
    answer = call("GET", URL)

    assert (answer.status, world.used(EXAMPLES)) == (500, before)
