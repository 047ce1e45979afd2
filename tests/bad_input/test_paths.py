"""URLs in `path` that must not be reached, and misbehaving servers."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.bad_input.addresses import FORBIDDEN
from tests.live import SYNC, UPLOAD


def send(caller, path, target=SYNC):
    """Upload from an address."""
    return caller.json("POST", target, {"type": "text-intent", "path": path})


@pytest.mark.parametrize("path", FORBIDDEN)
def test_forbidden_address_is_a_400(victim, path):
    """No spelling of a private address is reached, and a text that is not a URL is refused."""
    answer = send(victim, path)

    assert answer.refused(400, "Failed to download the dataset from the public URL.")
    assert len(answer.message) < 250


@pytest.mark.parametrize("path", ["http://127.0.0.1/", "file:///etc/passwd"])
def test_the_other_uploads_check_the_same(live, victim, path):
    """The queued upload and the PUT refuse in the call too."""
    send(victim, path, UPLOAD).refused(400, "public URL")
    shop = f"/v2/language/datasets/{live.shop['id']}/upload"
    victim.json("PUT", shop, {"path": path}).refused(400, "public URL")


def test_other_ports_of_an_allowed_host_stay_closed(live, victim):
    """An allowed port opens neither the service itself nor its storage."""
    settings = live.stack.settings

    for url in (live.url, settings.endpoint_url):
        send(victim, f"{url}/v2/health").refused(400, "not on the public internet")


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/",
        "http://127.0.0.1:22/",
        "http://[::ffff:10.0.0.1]/",
        "http://0x7f.1/",
        "file:///etc/passwd",
        "//127.0.0.1:22/",
        "http://user@127.0.0.1/",
        "\\\\127.0.0.1\\x",
        "",
    ],
)
def test_redirect_to_a_forbidden_address_is_a_400(live, victim, target):
    """Every step of a redirect is checked like the first."""
    send(victim, live.tricks.redirect(target)).refused(400, "public URL")


def test_redirects_without_end_are_a_400(live, victim):
    """A redirect loop is a 400."""
    circle = live.tricks.redirect("x")
    live.tricks.targets[circle.removeprefix(live.tricks.url(""))] = circle

    send(victim, circle).refused(400, "redirects more than 3 times")


def test_honest_redirect_is_followed(live, maker):
    """A redirect to an allowed URL is followed."""
    dataset = send(maker, live.tricks.redirect("/honest.csv")).ok()

    assert (dataset["statusMsg"], dataset["totalExamples"]) == ("SUCCEEDED", 2)


@pytest.mark.parametrize(
    ("trap", "words"),
    [
        ("/missing", ("status 404",)),
        ("/nonsense", ("not valid HTTP",)),
        ("/two_lengths", ("not valid HTTP",)),
        ("/bomb", ("compressed",)),
        ("/packed", ("gzip",)),
        ("/page", ("HTML",)),
        ("/headers", ("not valid HTTP",)),
    ],
)
@pytest.mark.parametrize("target", [SYNC, UPLOAD])
def test_server_that_sends_no_file_is_a_400(live, victim, trap, words, target):
    """The error describes what the server did."""
    send(victim, live.tricks.url(trap), target).refused(400, "public URL", *words)


def test_promise_of_5_gb_is_a_413(live, victim):
    """A declared size of 5 GB is a 413."""
    send(victim, live.tricks.url("/huge")).refused(413, "5,368,709,120", "26,214,400")


@pytest.mark.parametrize(
    ("trap", "words"),
    [
        ("/empty", ("0 bytes",)),
        ("/short", ("connection ended", "5,000")),
        ("/endless", ("26,214,400", "larger")),
    ],
)
def test_file_that_turns_out_bad_has_failed(live, maker, trap, words):
    """A file that proves invalid after its download is a FAILED dataset without examples."""
    answer = send(maker, live.tricks.url(trap))

    if answer.status == 200:
        dataset = answer.json
        assert dataset["statusMsg"].startswith("FAILED: ")
        assert all(word in dataset["statusMsg"] for word in words), dataset["statusMsg"]
        assert dataset["totalExamples"] == 0
    else:
        answer.refused(400, *words)


def test_what_follows_the_stated_length_is_no_part_of_the_file(live, maker):
    """Bytes after the stated Content-Length are ignored."""
    assert send(maker, live.tricks.url("/long")).ok()["totalExamples"] == 2


def test_slow_servers_cost_ten_seconds(live, victim):
    """Slow servers are abandoned after ten seconds, whichever part is slow."""
    traps = ["/drip", "/slow_head", "/silent"]
    with ThreadPoolExecutor(len(traps)) as pool:
        answers = list(pool.map(lambda trap: send(victim, live.tricks.url(trap)), traps))
        victim.get("/v2/language/datasets").ok()

    for answer in answers:
        answer.refused(400, "longer than 10 seconds")


def test_hanging_servers_delay_no_other_calls(live, maker):
    """Of 30 calls to a silent server 8 wait, and all other calls are answered first."""
    # The service gives up on a silent server after ten seconds. Where the machine stalls for that
    # long, the order says nothing; a service that holds up others fails every time.
    for _ in range(4):
        answers = ask_silent_server(live, maker)
        if not any(answer.status == 400 for answer in answers[:22]):
            break

    for answer in answers[:22]:
        answer.refused(429, "8 downloads of this account are in progress")
    assert [answer.status for answer in answers[22:]] == [400] * 8
    assert send(maker, live.tricks.url("/honest")).ok()["totalExamples"] == 2


def ask_silent_server(live, maker):
    """Make thirty calls at once for a silent server; return the answers as they came."""
    url = live.tricks.url("/silent")
    predict = {"modelId": "GeneralImageClassifier", "sampleLocation": url}
    answers = []

    def ask(number):
        """Predict or upload a file of the silent server; note the answer when it comes."""
        if number % 3:
            answer = maker.json("POST", "/v2/vision/predict", predict)
        else:
            answer = send(maker, url)
        answers.append(answer)

    with ThreadPoolExecutor(30) as pool:
        asked = [pool.submit(ask, number) for number in range(30)]
        while len(answers) < 22:
            time.sleep(0.02)
        for _ in range(3):
            assert maker.get("/v2/health").status == 200
        for future in asked:
            future.result()
    return answers
