"""Runs one peer in a separate environment: reads a job as JSON, and writes answers as JSON.

bench/peers.py calls this program, which imports nothing of the project.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

PREFIX = "__label__"
NEUTRAL = 0.05
"""Width of the neutral range in VADER's documentation."""


def fasttext(job: dict[str, Any]) -> list[str]:
    """Train fastText with word bigrams; predict labels, which fastText gets as numbers."""
    import fasttext as library

    names = sorted(set(job["labels"]))
    places = {name: place for place, name in enumerate(names)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        pairs = zip(job["texts"], job["labels"], strict=True)
        lines = [f"{PREFIX}{places[label]} {_line(text)}" for text, label in pairs]
        path.write_text("\n".join(lines) + "\n", "utf-8")
        model = library.train_supervised(
            str(path), epoch=100, lr=1.0, wordNgrams=2, dim=100, minn=2, maxn=5, thread=2, verbose=0
        )
    found, _ = model.predict([_line(text) for text in job["asked"]])
    return [names[int(answer[0].removeprefix(PREFIX))] for answer in found]


def vader(job: dict[str, Any]) -> list[str]:
    """Predict the sentiment of texts from VADER's compound score."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyser = SentimentIntensityAnalyzer()
    scores = [analyser.polarity_scores(text)["compound"] for text in job["asked"]]
    return [
        "positive" if s >= NEUTRAL else "negative" if s <= -NEUTRAL else "neutral" for s in scores
    ]


def cleanlab(job: dict[str, Any]) -> dict[str, list[int]]:
    """Find label errors with the filters that cleanlab documents."""
    import numpy as np
    from cleanlab.filter import find_label_issues

    labels, shares = np.array(job["labels"]), np.array(job["shares"])
    return {
        name: [
            int(place)
            for place in find_label_issues(
                labels,
                shares,
                filter_by=name,
                return_indices_ranked_by="self_confidence",
                n_jobs=1,
            )
        ]
        for name in ("prune_by_noise_rate", "confident_learning", "low_normalized_margin")
    }


def _line(text: str) -> str:
    """Return a text on one line and in lower case, as fastText's manual advises."""
    return " ".join(text.lower().split())


if __name__ == "__main__":
    runs = {"fasttext": fasttext, "vader": vader, "cleanlab": cleanlab}
    json.dump(runs[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
