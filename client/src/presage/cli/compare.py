"""`presage compare`: replays recorded calls, and reports how often predictions agree."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from presage import ApiError, Presage, PresageError
from presage._progress import Bar
from presage._requests import Request, members
from presage.cli.context import Json, Quiet, client, shows_progress
from presage.cli.output import percent, print_json, say

# Standard deviations of a 95 % confidence interval.
Z = 1.96
# Differences that are printed; --json has all.
SHOWN = 20


@dataclass
class Recorded:
    """A call that was recorded with the old service, and its prediction."""

    line: int
    path: str
    fields: dict[str, Any]
    label: str | None
    probability: float


@dataclass
class Outcome:
    """The predictions of the old and the new service for one recorded call."""

    call: Recorded
    label: str | None
    probability: float
    error: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both services predict the same most probable label."""
        return not self.error and self.label == self.call.label


def compare(
    old: Annotated[
        Path,
        typer.Option(
            help="Recorded calls: one JSON object per line, with path, fields and answer."
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(help="OLD=NEW: replace a model id of the recorded calls. Repeatable."),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Replay recorded calls of another service, and report how often predictions agree.

    Each call counts as one prediction.
    """
    calls = list(_recorded(old))
    names = dict(_pair(item) for item in model or [])
    with client() as service, Bar("Comparing", shows_progress(quiet), len(calls)) as bar:
        outcomes = []
        for number, call in enumerate(calls, 1):
            outcomes.append(_replay(service, call, names))
            bar.show(number)
    _report(outcomes, as_json)


def _pair(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"write OLD=NEW, not {text!r}", param_hint="--model")
    return old, new


def _recorded(path: Path) -> Iterator[Recorded]:
    """Yield recorded calls; raise PresageError for a file or a line that cannot be read."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeError) as error:
        raise PresageError(f"{path} cannot be read: {error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            first = (item["answer"]["probabilities"] or [{"label": None, "probability": 0.0}])[0]
            label, probability = first["label"], float(first["probability"])
            yield Recorded(number, item["path"], dict(item["fields"]), label, probability)
        except (ValueError, KeyError, TypeError) as error:
            raise PresageError(
                f"{path}, line {number}: expected an object with path, fields and answer ({error})."
            ) from error


def _replay(service: Presage, call: Recorded, names: dict[str, str]) -> Outcome:
    fields = dict(call.fields)
    fields["modelId"] = names.get(str(fields.get("modelId")), fields.get("modelId"))
    path = call.path if call.path.startswith("/") else f"/{call.path}"
    request = Request("POST", path, fields=fields, is_counted_once=True)
    try:
        found = members(service.transport.send(request))["probabilities"]
    except ApiError as error:
        return Outcome(call, None, 0.0, f"{error.status}: {error}")
    label, probability = (found[0]["label"], found[0]["probability"]) if found else (None, 0.0)
    return Outcome(call, label, probability)


def interval(hits: int, total: int) -> tuple[float, float]:
    """Return the 95 % confidence interval (Wilson) of the rate hits / total."""
    if not total:
        return 0.0, 1.0
    share, weight = hits / total, Z * Z / total
    middle = (share + weight / 2) / (1 + weight)
    half = Z * math.sqrt(share * (1 - share) / total + weight / (4 * total)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)


def _report(outcomes: list[Outcome], as_json: bool) -> None:
    hits, total = sum(item.agrees for item in outcomes), len(outcomes)
    low, high = interval(hits, total)
    agreed = [abs(item.probability - item.call.probability) for item in outcomes if item.agrees]
    drift = sum(agreed) / len(agreed) if agreed else 0.0
    others = [item for item in outcomes if not item.agrees]
    if as_json:
        print_json(
            {
                "calls": total,
                "agree": hits,
                "interval": [low, high],
                "meanProbabilityDifference": drift,
                "differences": [_difference(item) for item in others],
            }
        )
        return
    share = percent(hits / total if total else 0)
    say(f"{hits} of {total} answers have the same first label: {share}")
    say(f"95 % interval: {percent(low)} to {percent(high)}")
    say(f"probabilities differ by {drift:.3f} on average where the labels agree")
    for item in others[:SHOWN]:
        said = item.error or f"{item.label} {item.probability:.3f}"
        say(f"  line {item.call.line}: {item.call.label} {item.call.probability:.3f} -> {said}")
    if len(others) > SHOWN:
        say(f"  and {len(others) - SHOWN} more: --json lists all")


def _difference(item: Outcome) -> dict[str, Any]:
    old = {"label": item.call.label, "probability": item.call.probability}
    new = {"label": item.label, "probability": item.probability}
    return {"line": item.call.line, "old": old, "new": new, "error": item.error or None}
