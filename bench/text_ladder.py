"""Compares the encoders chosen by default with all other sets of encoders of moderate cost.

Reports accuracy relative to the best of these sets, the cost of answers, and the processor time
that the service needs to choose the encoders.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np

from bench.report import Bar, Report, say
from bench.text_data import Embedder, accuracy, train
from bench.text_default import chosen_profile
from bench.text_languages import CODES
from chalicelib.engines.text.encoding.interface import Encoder
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
# Texts of a dataset for which the choice is timed, and how often other texts are drawn.
CHOSEN_FOR, DRAWS = 1_000, 3
CHOICE_BAR = Bar(0.5, is_ceiling=True)


class _Stored(Embedder):
    """Embeds each text only once, like a training, and stores the vectors in memory."""

    def __init__(self, data: Path, models: Path) -> None:
        super().__init__(data, models)
        self._vectors: dict[tuple[str, str], np.ndarray] = {}

    def _block(self, encoder: Encoder, texts: list[str], name: str) -> np.ndarray:
        del name
        missing = [text for text in texts if (encoder.name, text) not in self._vectors]
        for text, vector in zip(missing, encoder.encode(missing), strict=True):
            self._vectors[encoder.name, text] = vector
        return np.array([self._vectors[encoder.name, text] for text in texts])


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


def bench_choice(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Compare the processor time of choosing encoders with the time of embedding plus fit."""
    del profiles
    texts, labels = embedder.rows(SETS[0][1])
    for draw in range(DRAWS):
        places = Random(draw).sample(range(len(texts)), CHOSEN_FOR)
        fresh = _Stored(embedder.data, embedder.models)
        fresh.own["drawn"] = [texts[at] for at in places], [labels[at] for at in places]
        for name in sorted({name for member in ENGLISH for name in member}):
            fresh.encoder(name).encode(["loads the encoder"])
        # The training embeds all texts with the first encoder before it compares others.
        times = [time.process_time()]
        fresh.read("drawn", BASE)
        times.append(time.process_time())
        chosen = chosen_profile(fresh, "drawn", "en_US")
        times.append(time.process_time())
        train(fresh, "drawn", chosen.encoders)
        times.append(time.process_time())
        embedding, choice, rest = np.diff(times)
        say(f"{chosen.name}: {embedding:.1f} s, choice {choice:.1f} s, rest {rest:.1f} s")
        what = f"choice of encoders, {CHOSEN_FOR} texts, draw {draw}: over embedding and fit"
        report.add(what, float(choice / (embedding + rest)), "", CHOICE_BAR)


def _set(
    report: Report, embedder: Embedder, what: str, files: Sequence[str], language: str
) -> float:
    """Report the accuracy on one set; return the cost of its encoders relative to `bge`."""
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
    """Return the processor time of encoders, divided by the time of `bge` for the same texts."""
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
