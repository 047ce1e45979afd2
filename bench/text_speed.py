"""Measures warm predictions in this process, one at a time, without HTTP and stores."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.folder_models import ask, prediction_service, served
from bench.report import Bar, Report
from bench.text_data import PROFILES, Embedder, train
from chalicelib.engines.text.classifier import dump
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.text.encoding.profiles import Profile, cost_of

WARM_PREDICTIONS = 300
WORDS = (10, 60)
"""Lengths of texts whose time is reported separately."""
BARS = {"fast": Bar(5.0, is_ceiling=True), "accurate": Bar(20.0, is_ceiling=True)}
FORMER = ("minilm", "use")
"""Encoders of the fast profile before version 0.3, for a comparison of processor times."""
SHORT_WORDS, ROUNDS = 7, 100
BASE, OTHERS = ("bge",), ("minilm", "use", "mpnet", "e5", "words")
"""The encoder to which model cards relate costs, and the encoders that join it."""
PROCESSOR_BARS = {"fast": Bar(1.15, is_ceiling=True)}


def bench_speed(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Report the median and the slowest of a few hundred predictions with BANKING77.

    The encoders of a profile run in parallel, as in the local stack. For comparison, they also run
    one after the other, as in a function with one processor.
    """
    texts = embedder.rows("banking77_test")[0][:WARM_PREDICTIONS]
    threads = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        for profile in profiles:
            model, _ = train(embedder, "banking77_fewshot_train_10", PROFILES[profile])
            (Path(folder) / profile).write_bytes(dump(model))
            together = _durations(Path(folder), embedder.models, profile, texts, threads)
            alone = _durations(Path(folder), embedder.models, profile, texts, 1)
            median, slow = np.percentile(together, [50, 99])
            report.add(f"warm prediction, {profile}: p50", float(median), "ms", BARS[profile])
            report.add(f"warm prediction, {profile}: p99", float(slow), "ms")
            median = np.median(alone)
            report.add(f"warm prediction, {profile}, one thread: p50", float(median), "ms")
            for words in WORDS:
                same = _of_length(texts, words)
                median = np.median(_durations(Path(folder), embedder.models, profile, same, 2))
                name = f"warm prediction, {profile}, {words} words, two threads: p50"
                report.add(name, float(median), "ms")
    _processor_times(report, embedder, profiles, _of_length(texts, SHORT_WORDS)[:ROUNDS])
    _costs(report, embedder, _of_length(texts, WORDS[0])[:ROUNDS])


def _processor_times(
    report: Report, embedder: Embedder, profiles: Sequence[str], texts: Sequence[str]
) -> None:
    """Measure the processor time of each choice of encoders for a short text, alternately."""
    choices = {"former fast": FORMER} | {profile: PROFILES[profile] for profile in profiles}
    medians = _medians(embedder, choices, texts)
    for name, median in medians.items():
        report.add(f"encoders, {name}, {SHORT_WORDS} words: processor time", median, "ms")
    for profile in profiles:
        ratio = medians[profile] / medians["former fast"]
        report.add(f"encoders, {profile} over former fast", ratio, "", PROCESSOR_BARS.get(profile))


def _costs(report: Report, embedder: Embedder, texts: Sequence[str]) -> None:
    """Report the processor time of each encoder, and the cost that model cards assume."""
    medians = _medians(embedder, {name: (name,) for name in (*BASE, *OTHERS)}, texts)
    for name in OTHERS:
        ratio = medians[name] / medians[BASE[0]]
        peer = ("model cards", cost_of(Profile("", (name,)), Profile("", BASE)))
        report.add(f"encoders, {name} over {BASE[0]}, {WORDS[0]} words", ratio, "", None, peer)


def _medians(
    embedder: Embedder, choices: Mapping[str, Sequence[str]], texts: Sequence[str]
) -> dict[str, float]:
    """Return the median processor time of each choice of encoders for a text, in milliseconds."""
    spent: dict[str, list[float]] = {name: [] for name in choices}
    for text in [*texts[:10], *texts]:
        for name, encoders in choices.items():
            start = time.process_time()
            for encoder in encoders:
                embedder.encoder(encoder).encode([text])
            spent[name].append(1_000 * (time.process_time() - start))
    return {name: float(np.median(times[10:])) for name, times in spent.items()}


def _of_length(texts: Sequence[str], words: int) -> list[str]:
    """Join texts and cut them into texts of `words` words each."""
    found = " ".join(texts).split()
    return [" ".join(found[at : at + words]) for at in range(0, len(found) - words, words)]


def _durations(
    folder: Path, models: Path, profile: str, texts: Sequence[str], threads: int
) -> list[float]:
    """Return the milliseconds of each prediction, after some predictions to warm up."""
    service = prediction_service(folder, EncoderPool(models, threads=threads))
    model = served(profile)

    def predict(text: str) -> None:
        assert ask(service, model, text)

    return [_milliseconds(predict, text) for text in [*texts[:20], *texts]][20:]


def _milliseconds(call: Callable[[str], None], text: str) -> float:
    start = time.perf_counter()
    call(text)
    return 1_000 * (time.perf_counter() - start)
