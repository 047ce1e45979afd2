"""Measures how long other accounts wait while one account calls just below its rate limit.

Measurements with and without these calls alternate, so that other load on the machine affects both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from bench.bench_http import milliseconds, quantile
from bench.flood import Request, flooding
from bench.report import Bar, Report, ceiling, say
from chalicelib.domain.accounts.rates import DOCUMENTS, PICTURES, RATES, TEXTS
from tests.flows.client import LANGUAGE, VISION, Client, encode_multipart
from tests.flows.world import World, weather
from tests.formats.drawn import encoded
from tests.papers import paper

PLAN = "GOLD"
# Fraction of its rate at which the flooding account calls, so that no call is refused.
SHARE = 0.9
PAIRS = 5
# Calls per measurement by the kind of flood. Floods of images and documents need fewer, because
# they keep the processors busy.
CALLS = {TEXTS: 200, PICTURES: 60, DOCUMENTS: 60}
FLOODS = (TEXTS, PICTURES, DOCUMENTS)
BARS = {0.5: ceiling(2.0), 0.99: ceiling(3.0)}
# Texts from the middle of an office document.
LINES = ["Dana Reyes", "Orchid Labs Inc.", "dana@orchid.test", "Phone: 602 555 0100"]


@dataclass
class Neighbour:
    """The account whose waiting times are measured, and the call that it makes."""

    name: str
    ask: Callable[[int], object]


def measure_neighbours(world: World, report: Report, floods: tuple[str, ...] = FLOODS) -> None:
    """Compare times of an account's text predictions with and without floods of another account."""
    one, many = world.caller(PLAN), world.caller(PLAN)
    models = [caller.model(int(caller.dataset(weather())["id"])) for caller in (one, many)]
    neighbour = Neighbour("text", lambda n: one.predict(models[0], f"is it going to rain {n}").ok)
    page = encoded(paper(LINES), "PNG")
    requests = {
        TEXTS: text_request(models[1]),
        PICTURES: file_request(f"{VISION}/predict", "FoodImageClassifier", page),
        DOCUMENTS: file_request(f"{VISION}/ocr", "OCRModel", page),
    }
    warm(many, requests, neighbour)
    for flood in floods:
        bars = BARS if flood == TEXTS else {}
        compare(world, report, Flood(many, flood, requests[flood]), neighbour, bars)


@dataclass
class Flood:
    """Calls that an account makes just below its rate limit."""

    caller: Client
    kind: str
    request: Request

    @property
    def per_second(self) -> float:
        """Return the number of calls per second."""
        return SHARE * float(RATES[PLAN][self.kind])


def text_request(model: str) -> Request:
    """Return the request for a prediction of a text."""
    body = json.dumps({"modelId": model, "document": "will there be snow tomorrow"})
    return Request("POST", f"{LANGUAGE}/intent", "application/json", body)


def file_request(path: str, model: str, content: bytes) -> Request:
    """Return the request for a prediction of an image or document."""
    kind, body = encode_multipart([("modelId", model)], {"sampleContent": ("page", content)})
    return Request("POST", path, kind, body.decode("latin-1"))


def warm(caller: Client, requests: dict[str, Request], neighbour: Neighbour) -> None:
    """Make calls that load every network, so that later measurements are warm."""
    for request in requests.values():
        headers = {"Content-Type": request.kind}
        body = request.body.encode("latin-1")
        assert caller.send(request.method, request.path, body, headers).ok
    leg(neighbour, 20)


def leg(neighbour: Neighbour, calls: int) -> list[float]:
    """Make calls, one after the other; return the time of each call in milliseconds."""
    return [milliseconds(lambda n=n: neighbour.ask(n)) for n in range(calls)]


def compare(
    world: World, report: Report, flood: Flood, neighbour: Neighbour, bars: dict[float, Bar]
) -> None:
    """Report each quantile of call times during the flood, divided by the quantile without it."""
    calm: list[list[float]] = []
    flooded: list[list[float]] = []
    seen = Counter[str]()
    for _ in range(PAIRS):
        calm.append(leg(neighbour, CALLS[flood.kind]))
        token = str(flood.caller.token)
        with flooding(world.stack.url, token, flood.per_second, seen, flood.request):
            flooded.append(leg(neighbour, CALLS[flood.kind]))
    say(f"{flood.kind}, {flood.per_second:g} calls a second: {dict(seen)}")
    for share in BARS:
        pairs = [
            (quantile(before, share), quantile(after, share))
            for before, after in zip(calm, flooded, strict=True)
        ]
        ratio = quantile([after / before for before, after in pairs], 0.5)
        shown = ", ".join(f"{before:.1f} to {after:.1f}" for before, after in pairs)
        say(f"p{100 * share:g} in ms: {shown}")
        name = f"{neighbour.name} p{100 * share:g} next to a flood of {flood.kind}, to calm"
        report.add(name, ratio, "x", bars.get(share))
