"""Compares the default choice of encoders with all choices of moderate cost.

Reports accuracy relative to the best of these choices, and the cost of answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from bench.report import Bar, Report, say
from bench.text_data import Embedder, accuracy, train
from bench.text_default import chosen_profile
from bench.text_languages import CODES
from chalicelib.engines.text.encoding.profiles import Profile, cost_of

BASE = ("bge",)
ENGLISH = (BASE, ("bge", "minilm"), ("bge", "mpnet"))
OTHERS = (("use",), ("e5", "use"))
SETS = (
    ("BANKING77 full", "banking77_train", "banking77_test"),
    ("BANKING77 10-shot", "banking77_fewshot_train_10", "banking77_fewshot_test"),
    ("BANKING77 5-shot", "banking77_fewshot_train_5", "banking77_fewshot_test"),
    ("CLINC150 full", "clinc150_full_train", "clinc150_full_test"),
)
MODERATE_COST, BELOW_BEST, MEAN_COST = 2.5, 0.005, 1.6
# Texts of a set whose embedding is timed, and how often.
TIMED, ROUNDS = 30, 3


def bench_ladder(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Measure every set of intents, and topics in every language."""
    del profiles
    costs = [_set(report, embedder, what, files, "en_US") for what, *files in SETS]
    for code in CODES:
        files = [f"sib200_{code}_train", f"sib200_{code}_test"]
        language = "en_US" if code == "en" else code.replace("-", "_")
        costs.append(_set(report, embedder, f"SIB-200 {code}", files, language))
    report.add(
        "mean cost of the default", float(np.mean(costs)), "", Bar(MEAN_COST, is_ceiling=True)
    )


def _set(
    report: Report, embedder: Embedder, what: str, files: Sequence[str], language: str
) -> float:
    """Report one set; return the cost of the default encoders relative to that of `bge`."""
    members = ENGLISH if language == "en_US" else OTHERS
    base = Profile("", BASE)
    chosen = chosen_profile(embedder, files[0], language)
    say(f"{what}: {'+'.join(chosen.encoders)}. {chosen.reason}")
    moderate = [one for one in members if cost_of(Profile("", one), base) <= MODERATE_COST]
    found: dict[tuple[str, ...], float] = {}
    for encoders in {*moderate, chosen.encoders}:
        model, _ = train(embedder, files[0], encoders)
        found[encoders] = accuracy(model, embedder.read(files[1], encoders)).value
        say(f"{what}, {'+'.join(encoders)}: {found[encoders]:.4f}")
    best = max(moderate, key=lambda encoders: found[encoders])
    name = f"{what}, default ({'+'.join(chosen.encoders)})"
    peer = (f"best of moderate cost, {'+'.join(best)}", found[best])
    report.add(f"{name}: accuracy", found[chosen.encoders], "", Bar(peer[1] - BELOW_BEST), peer)
    return _processor_cost(embedder, embedder.rows(files[1])[0][:TIMED], chosen.encoders)


def _processor_cost(embedder: Embedder, texts: Sequence[str], encoders: Sequence[str]) -> float:
    """Return the processor time of encoders, divided by that of `bge` for the same texts."""
    if tuple(encoders) == BASE:
        return 1.0
    spent: dict[tuple[str, str], float] = {}
    # In alternation, and the shortest time of each text, so that other processes matter little.
    for _ in range(ROUNDS):
        for text in texts:
            for name in {*BASE, *encoders}:
                start = time.process_time()
                embedder.encoder(name).encode([text])
                seconds = time.process_time() - start
                spent[name, text] = min(seconds, spent.get((name, text), seconds))
    own, base = (
        sum(seconds for (name, _), seconds in spent.items() if name in names)
        for names in (encoders, BASE)
    )
    say(f"{'+'.join(encoders)} takes {own / base:.2f} x the processor time of bge")
    return own / base
