"""Runs alternatives to Presage on the same data in the same benchmark.

scikit-learn runs in this process. fastText, VADER and cleanlab run in a separate virtual
environment (peers.txt), because they need other versions of packages. A peer that cannot be
installed is reported and left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC

from bench.report import say

FOLDER = Path(__file__).parents[1] / "build" / "bench" / "peers"
PACKAGES = Path(__file__).with_name("peers.txt")
PROGRAM = Path(__file__).with_name("peer_program.py")
INSTALL_SECONDS = 900
ANSWER_SECONDS = 900


def tfidf_svm(texts: Sequence[str], labels: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Train a linear SVM on TF-IDF of words and characters; return its predictions for `asked`."""
    features = make_union(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
    )
    model = make_pipeline(features, LinearSVC(C=1.0))
    model.fit(texts, labels)
    return [str(answer) for answer in model.predict(asked)]


def fasttext(texts: Sequence[str], labels: Sequence[str], asked: Sequence[str]) -> list[str] | None:
    """Train fastText with word bigrams; return its predictions for `asked`, or None on failure."""
    job = {"texts": list(texts), "labels": list(labels), "asked": list(asked)}
    return _ask("fasttext", job)


def vader(asked: Sequence[str]) -> list[str] | None:
    """Return the sentiments by VADER, with its documented thresholds of ±.05; None if it failed."""
    return _ask("vader", {"asked": list(asked)})


def cleanlab(
    label_indexes: Sequence[int], shares: Sequence[Sequence[float]]
) -> Mapping[str, list[int]] | None:
    """Return the indexes of likely label errors for each filter; None if cleanlab failed."""
    return _ask("cleanlab", {"labels": list(label_indexes), "shares": [list(s) for s in shares]})


def _ask(name: str, job: Mapping[str, Any]) -> Any:
    """Run one peer with a job; return its answers, or None if the peer failed."""
    done = subprocess.run(
        [_python(), "-W", "ignore", PROGRAM, name],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        timeout=ANSWER_SECONDS,
    )
    if done.returncode:
        say(f"{name} cannot be compared: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
        return None
    return json.loads(done.stdout)


def _python() -> Path:
    """Return the Python of the peers' environment, which is made at the first use."""
    digest = sha256(PACKAGES.read_bytes()).hexdigest()[:16]
    home = FOLDER / digest
    python = home / "bin" / "python"
    stamp = home / "tried"
    if not stamp.exists():
        say("installing the peers of peers.txt (fastText is compiled: minutes)")
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        for line in PACKAGES.read_text("utf-8").splitlines():
            package = line.split("#")[0].strip()
            if package:
                _install(python, package)
        stamp.touch()
    return python


def _install(python: Path, package: str) -> None:
    """Install one peer. If that fails, report the failure and continue."""
    command = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", package]
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    if done.returncode:
        say(f"{package} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
