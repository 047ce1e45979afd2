"""`offset`, `count` and the other query parameters of every list."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.reads import reads

LISTS = [
    "/v2/language/datasets",
    "/v2/vision/datasets",
    *reads("language", is_paged=True, dataset_id="{shop}", label_id="{label}", model_id="{model}"),
]
BAD = ["-1", "-0.5", "1.5", "x", "1e2", "0x1", "١", "½", "null", "[1]", "1,2", "--1", "NaN", "1 2"]
BAD += ["-" + "9" * 30, "🙂", "\x00", "true"]


@pytest.fixture(scope="module")
def address(live):
    """Put the real ids into a list's address and add a query."""

    def fill(path: str, query: str = "") -> str:
        path = path.format(
            shop=live.shop["id"],
            label=live.shop["labelSummary"]["labels"][0]["id"],
            model=live.model_id,
        )
        return path + (("&" if "?" in path else "?") + query if query else "")

    return fill


@pytest.mark.parametrize("name", ["offset", "count"])
@pytest.mark.parametrize(
    ("path", "sent"),
    [(path, sent) for path in LISTS for sent in (BAD if path == LISTS[0] else BAD[:4])],
)
def test_what_is_no_position_is_a_400(victim, address, path, name, sent):
    """An invalid position is a 400 with parameter and value."""
    answer = victim.get(address(path, f"{name}={quote(sent)}"))

    answer.refused(400, name, sent[:20] if sent.isprintable() else name)


@pytest.mark.parametrize("path", LISTS)
def test_count_of_zero_is_a_400(victim, address, path):
    """A count of zero is a 400."""
    victim.get(address(path, "count=0")).refused(400, "count", "at least 1", "0")


@pytest.mark.parametrize(
    "query", ["offset=1000", f"offset={2**31}", f"offset={2**63}", "offset=" + "9" * 300]
)
@pytest.mark.parametrize("path", LISTS)
def test_offset_past_the_end_is_empty(victim, address, path, query):
    """Behind the last record there is an empty page, however far."""
    answer = victim.get(address(path, query))

    found = answer.ok()
    assert (found["object"], found["data"]) == ("list", [])
    assert 'rel="next"' not in answer.headers.get("link", "")


@pytest.mark.parametrize(
    "query", ["count=1000000", "count=" + "9" * 300, "offset=&count=", "offset=+0"]
)
@pytest.mark.parametrize("path", LISTS)
def test_large_count_is_clamped_and_empty_is_absent(victim, address, path, query):
    """A count above the maximum is clamped; an empty parameter counts as absent."""
    assert victim.get(address(path, query)).ok() == victim.get(address(path)).ok()


@pytest.mark.parametrize("path", LISTS)
def test_repeated_and_unknown_parameters(victim, address, path):
    """Of a repeated parameter the last counts; unknown ones are ignored."""
    whole = victim.get(address(path)).ok()["data"]

    got = victim.get(address(path, "count=100&count=1&page=7&x[]=%FF&=&&")).ok()["data"]

    assert got == whole[:1]


@pytest.mark.parametrize("sent", ["x", "Upload", "upload,feedback", "1", "%00"])
def test_unknown_source_is_a_400(victim, address, sent):
    """The text lists the sources there are."""
    path = address("/v2/language/datasets/{shop}/examples", f"source={sent}")

    victim.get(path).refused(400, "source", "upload, feedback, all")


@pytest.mark.parametrize("sent", ["yes!", "2", "x", "[]"])
def test_global_that_is_no_boolean_is_a_400(victim, sent):
    """The text names the parameter."""
    victim.get("/v2/language/datasets", **{"global": sent}).refused(400, "global")


def test_refused_calls_cost_no_example_call(live):
    """A refused call does not count toward the 30 example calls."""
    caller = live.caller("paging", example_calls=1)
    dataset = caller.json(
        "POST", "/v2/language/datasets", {"name": "x", "type": "text-intent", "labels": "a"}
    ).ok()
    path = f"/v2/language/datasets/{dataset['id']}/examples"

    for _ in range(3):
        caller.get(path, count=0).refused(400)
        caller.get(path, source="x").refused(400)
    caller.get(path).ok()
    assert caller.get(path).refused(429) == "example_quota_exceeded"
