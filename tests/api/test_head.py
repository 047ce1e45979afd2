"""HEAD is served wherever GET is: status and headers, without a body or side effects."""

from __future__ import annotations

import pytest

import app
from chalicelib.domain.accounts.usage import BROWSED
from chalicelib.routes import OPERATIONS
from infra.template.routing import function_of
from tests.api.prepared import (
    ALBUM_ID,
    DATASET_ID,
    EXAMPLES,
    IMAGE_MODEL_ID,
    LAST_MINUTE,
    MODEL_ID,
    REFUND,
)
from tests.policies.recorder import Recorder
from tests.reads import reads

PLAIN = ["/", "/console", "/console/app.js", "/v2/health", "/v2/openapi.json", "/v2/docs",
         "/v2/docs/docs.js", "/v2/apiusage", "/v2/webhooks", "/v2/keys", "/v2/language/models",
         "/v2/language/datasets?count=1", "/v2/vision/batches", "/v1/apiusage",
         f"/v1/vision/datasets/{ALBUM_ID}"]  # fmt: skip
NAMED = [
    *reads("language", dataset_id=DATASET_ID, label_id=REFUND, model_id=MODEL_ID),
    *reads("vision", dataset_id=ALBUM_ID, label_id=0, model_id=IMAGE_MODEL_ID),
]
REFUSED = ["/v2/nothing", "/v2/vision/datasets/7", f"/v2/language/datasets/{DATASET_ID}?x=1",
           f"/v2/language/datasets/{DATASET_ID}/examples?count=0"]  # fmt: skip
WRITES = ("Put", "Update", "Delete", "Transact", "BatchWrite", "Create", "Send")


def answers(call, url):
    """Call by HEAD and by GET; return both answers."""
    head = call("HEAD", url)
    return head, call("GET", url)


@pytest.mark.parametrize("url", [*PLAIN, *NAMED, *REFUSED])
def test_head_is_get_without_a_body(call, url):
    """HEAD returns the status, headers and length of GET, for answers and errors."""
    head, get = answers(call, url)

    if "browse" in url and "thumbnail" in get.text:
        head = call("HEAD", url)  # the first one could not know the thumbnails that GET makes
    assert (head.status, head.text) == (get.status, "")
    length = str(len(get.text.encode()))
    assert head.headers == {**get.headers, "Content-Length": length}


def test_every_get_has_its_head():
    """Every path with GET also has HEAD, and the template routes both to the same function."""
    gets = {path for op in OPERATIONS if op.method == "GET" for _, path in op.served_paths()}

    assert {path for path, methods in app.app.routes.items() if "HEAD" in methods} == gets
    for path in gets:
        assert function_of("HEAD", path) == function_of("GET", path)


def test_options_and_405_allow_head(call):
    """`Allow` lists HEAD where GET exists, and nowhere else."""
    assert call("OPTIONS", "/v2/health").headers["Allow"] == "GET, HEAD, OPTIONS"
    assert call("PUT", "/v2/health").headers["Allow"] == "GET, HEAD"
    assert call("OPTIONS", "/v2/language/intent").headers["Allow"] == "POST, OPTIONS"


def test_head_writes_nothing(call, world):
    """HEAD writes only the rate counters: no usage, no noted URL, no thumbnail."""
    made = call.json("POST", f"/v2/vision/datasets/{ALBUM_ID}/exports", format="zip").json
    world.work()
    recorder = Recorder(world.settings)
    recorder.listen("head", world.stores.clients)
    found = [url for url in NAMED if not url.endswith("labelId=0")]
    for url in (*found, f"/v2/vision/datasets/{ALBUM_ID}/exports/{made['id']}"):
        assert call("HEAD", url).status == 200, url

    written = {
        (resource, action)
        for resource, action in recorder.used["head"]
        if action.split(":")[1].startswith(WRITES)
    }
    assert written <= {("table/quotas", "dynamodb:UpdateItem")}
    assert world.used(EXAMPLES) == 0
    day = f"{LAST_MINUTE:%Y-%m-%d}"
    assert world.stores.quotas.used(world.account.account_id, BROWSED, day) == 0


def test_head_is_refused_when_get_is(call, world):
    """HEAD is refused when the monthly example calls are used up."""
    world.use(EXAMPLES, 30)
    head, get = answers(call, f"/v2/language/datasets/{DATASET_ID}/examples")

    assert (head.status, get.status) == (429, 429)
    assert head.headers["Retry-After"] == get.headers["Retry-After"]


def test_head_draws_the_rate_of_get(call, world):
    """HEAD and GET share one rate limit."""
    costs = []
    check = world.container.rates.check
    world.container.rates.check = lambda account, cost: costs.append(cost) or check(account, cost)
    answers(call, f"/v2/vision/datasets/{ALBUM_ID}/browse")

    assert len(costs) == 2
    assert costs[0] == costs[1]


def test_no_usable_url_is_signed(call, world, monkeypatch):
    """URLs that HEAD generates to compute the length have no valid signature."""
    urls = []
    store = type(world.stores.artifacts)
    sign = store.url
    monkeypatch.setattr(store, "url", lambda *given: urls.append(sign(*given)) or urls[-1])
    answers(call, f"/v2/vision/datasets/{ALBUM_ID}/examples?count=1")

    assert len(urls) == 2
    assert len(urls[0]) == len(urls[1])
    assert urls[0] != urls[1]
