"""One warm prediction at a time: encoders and head on one thread, no HTTP and no store."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from tests.bench.report import Bar, Report
from tests.bench.text_data import PROFILES, Embedder, train

WARM_PREDICTIONS = 300
BARS = {"fast": Bar(5.0, is_ceiling=True), "accurate": Bar(20.0, is_ceiling=True)}


def bench_speed(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Median and slowest of a few hundred predictions with BANKING77."""
    texts = embedder.rows("banking77_test")[0][:WARM_PREDICTIONS]
    for profile in profiles:
        encoders = PROFILES[profile]
        model, _ = train(embedder, "banking77_fewshot_train_10", encoders)
        loaded = [embedder.encoder(name) for name in encoders]

        def predict(text: str) -> None:
            model.predict({encoder.name: encoder.encode([text]) for encoder in loaded})  # noqa: B023

        durations = [_milliseconds(predict, text) for text in texts[:20] + texts][20:]
        median, slow = np.percentile(durations, [50, 99])
        report.add(f"warm prediction, {profile}: p50", float(median), "ms", BARS[profile])
        report.add(f"warm prediction, {profile}: p99", float(slow), "ms")


def _milliseconds(call: Callable[[str], None], text: str) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call(text)
    return 1_000 * (time.perf_counter() - start)
