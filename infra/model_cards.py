"""The command `python -m infra.model_cards`: writes docs/models.md from the installed cards."""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chalicelib.domain.models.model import PREBUILT
from infra.models import default_directory

PAGE = Path(__file__).parents[1] / "docs" / "models.md"
_INTRODUCTION = (
    "# Prebuilt models\n\n"
    "Data, accuracy and limits of the models that come with an installation. "
    "`GET /v2/{family}/models/{modelId}/card` returns the same card with digests. "
    "`python -m infra.model_cards` writes this page from the installed cards.\n"
)
_FIGURES = {
    "macroRecall": "mean recall of the labels",
    "calibrationError": "calibration error",
    "brierScore": "Brier score",
    "outOfDomainRate": "fraction of in-scope texts that may be rejected",
}


def page(cards: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page of all prebuilt models."""
    limits: dict[str, list[str]] = {}
    sections = ["\n".join(_section(name, card, limits)) for name, card in cards.items()]
    return "\n".join([_INTRODUCTION, *sections])


def _section(name: str, card: Mapping[str, Any], limits: dict[str, list[str]]) -> Iterator[str]:
    """Yield the lines about one model, and store the sentences about its limits in `limits`."""
    yield f"## {name}\n"
    yield f"- Model type: `{PREBUILT[name]}`; language: {card.get('language', 'none')}"
    known = card["trainedOn"]
    counts = [f"{known[key]:,} {key}" for key in ("examples", "labels") if known.get(key)]
    total = [f"In total: {', '.join(counts)}."] if counts else []
    yield "- Data:"
    yield from _listed([*_sentences(f"{known['source'].rstrip('.')}."), *total])
    yield f"- Licence of the data and networks: {known['licence']}"
    names = [
        f"{network.get('name') or network['title']} ({network['licence']})"
        for kind in ("encoders", "backbones", "networks")
        for network in card["engine"].get(kind, ())
    ]
    yield f"- Networks: {', '.join(names)}"
    if figures := list(_figures(card)):
        yield f"- On held-out examples: {', '.join(figures)}"
    if left := card.get("leftOut"):
        kind = "Mean recall (and calibration error) on a source, by a head trained without it"
        yield f"- {kind}: {', '.join(_left_out(left))}"
    sentences = _sentences(card["limits"])
    yield "- Limits:"
    yield from _listed(_without_repeats(sentences, limits))
    yield ""
    limits[name] = sentences


def _sentences(text: str) -> list[str]:
    """Split a text into sentences, but not before sentences that begin with It, So or Their."""
    return re.split(r"(?<=\.) (?!(?:It|So|Their) )(?=[A-Za-z])", text)


def _listed(sentences: Iterable[str]) -> Iterator[str]:
    return (f"  - {sentence}" for sentence in sentences)


def _without_repeats(sentences: list[str], limits: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the sentences about a model's limits, without repeating sentences of the page.

    If the sentences include all limits of an earlier model on the page, they are replaced by one
    sentence that names the earlier model.
    """
    same = {name: set(each) for name, each in limits.items() if set(each) <= set(sentences)}
    yield from (f"The limits of {name} apply." for name in same)
    yield from (each for each in sentences if not any(each in known for known in same.values()))


def _left_out(sources: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield lines with the metrics of classifiers, each trained without one source of texts."""
    for name, found in sources.items():
        recall, error = found["macroRecall"], found["calibrationError"]
        yield f"{name} {recall:.3f} ({error:.3f})"


def _figures(card: Mapping[str, Any]) -> Iterator[str]:
    accuracy = card.get("metrics", {}).get("testAccuracy")
    if accuracy:
        value, low, high = (accuracy[key] for key in ("value", "low", "high"))
        yield f"accuracy {value:.3f} ({low:.3f} to {high:.3f})"
    yield from (f"{words} {card[key]:.3f}" for key, words in _FIGURES.items() if key in card)


def read_cards(directory: Path) -> dict[str, dict[str, Any]]:
    """Return the installed cards by model id; raise OSError if a card is not installed."""
    return {
        name: json.loads((directory / "prebuilt" / name / "card.json").read_text("utf-8"))
        for name in PREBUILT
    }


def main() -> int:
    """Write the page and return the exit code."""
    try:
        cards = read_cards(default_directory())
    except OSError as error:
        advice = "Install the models with: python -m infra.models install"
        print(textwrap.fill(f"error: {error}. {advice}"), file=sys.stderr)
        return 1
    PAGE.write_text(page(cards), encoding="utf-8")
    print(f"{PAGE.name}: {len(cards)} models")
    return 0


if __name__ == "__main__":
    sys.exit(main())
