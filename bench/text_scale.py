"""Measures large trainings and many models in one process, and checks that artifacts are equal.

Artifacts must be equal on all processors. Run with `python -m bench.text_scale [--data FOLDER]
[--only PART ...] [--texts N]`. Work that needs much memory runs in a separate process, so that its
peak memory can be measured. The last parts start local stacks.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import numpy as np

from bench.folder_models import ask, prediction_service, served
from bench.report import Report, ceiling, say
from bench.text_data import BUILD, PROFILES, ROOT, Embedder
from bench.text_parts import bench_parts
from bench.text_service import TEXTS, bench_interrupted, bench_service, bench_words
from chalicelib.engines.interface import EncoderUse, TextFitOptions, TextTrainingSet
from chalicelib.engines.text.classifier import TextParameters, TrainedText, dump
from chalicelib.engines.text.encoding.pool import EncoderPool
from chalicelib.engines.text.fit import fit

DIMS = {"minilm": 384, "use": 512}
"""Dimensions of the vectors of each encoder."""
MODELS, MODEL_LABELS = 1_000, 150
KERNELS: tuple[Mapping[str, str], ...] = (
    {"OPENBLAS_NUM_THREADS": "1"},
    {"OPENBLAS_NUM_THREADS": "2"},
    {"OPENBLAS_CORETYPE": "Haswell"},
    {"OPENBLAS_CORETYPE": "SkylakeX"},
)


def clouds(examples: int, labels: int, spread: float) -> TextTrainingSet:
    """Draw unit vectors around one centre per label, with the dimensions of two encoders."""
    generator = np.random.default_rng(0)
    truth = generator.permutation(np.arange(examples) % labels)
    blocks, phrases = {}, {}
    for name, dims in DIMS.items():
        centres = generator.standard_normal((labels, dims), dtype=np.float32)
        vectors = centres[truth]
        vectors += spread * generator.standard_normal((examples, dims), dtype=np.float32)
        blocks[name] = _unit(vectors)
        phrases[name] = _unit(centres)
    return TextTrainingSet(
        blocks=blocks,
        label_indexes=truth,
        label_names=[_word(label) for label in range(labels)],
        digests=[sha256(str(number).encode()).digest() for number in range(examples)],
        label_blocks=phrases,
    )


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32, copy=False)


def _word(number: int) -> str:
    return "label" + "".join("aeioubdgkm"[int(digit)] for digit in str(number))


def train_clouds(examples: int, labels: int, spread: float) -> dict[str, float]:
    """Fit a model on vectors of `clouds`; return time, processor time and peak memory."""
    made = clouds(examples, labels, spread)
    started, used = time.perf_counter(), time.process_time()
    model = fit(made, TextFitOptions(threads=os.cpu_count() or 1), lambda epoch: None)
    return {
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - used,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "accuracy": model.report.metrics.test_accuracy if model.report else 0.0,
    }


def serve_many(models: Path) -> dict[str, float]:
    """Predict with each of a thousand models once, then with the last hundred models again."""
    pool = EncoderPool(models)
    uses = tuple(EncoderUse(name, pool.get(name).sha256, dims) for name, dims in DIMS.items())
    with tempfile.TemporaryDirectory() as folder:
        for number in range(MODELS):
            (Path(folder) / str(number)).write_bytes(_artifact(uses, number))
        service = prediction_service(Path(folder), pool)

        def ask_once(number: int) -> float:
            model = served(str(number))
            started = time.perf_counter()
            assert ask(service, model, "where is my parcel")
            return 1_000 * (time.perf_counter() - started)

        ask_once(0)
        cold = [ask_once(number) for number in range(1, MODELS)]
        warm = [ask_once(number) for number in range(MODELS - 100, MODELS)]
    return {
        "cold": float(np.quantile(cold, 0.99)),
        "warm": float(np.median(warm)),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def _artifact(uses: tuple[EncoderUse, ...], number: int) -> bytes:
    """Return the artifact of a model with random weights."""
    generator, dims = np.random.default_rng(number), sum(DIMS.values())
    weights = generator.standard_normal((dims, MODEL_LABELS), dtype=np.float32)
    parameters = TextParameters(
        labels=tuple(_word(label) for label in range(MODEL_LABELS)),
        encoders=uses,
        weights=weights.astype(np.float16),
        biases=np.zeros(MODEL_LABELS, np.float32),
        means=np.zeros(dims, np.float32),
        norms=(1.0,) * len(uses),
        temperature=1.0,
        threshold=float("-inf"),
    )
    return dump(TrainedText(parameters))


def train_banking(data: Path, models: Path) -> dict[str, object]:
    """Train on BANKING77; return the artifact's SHA-256, and the effects of small vector changes.

    The changes are as large as float16 rounding. Differences between processors are smaller.
    """
    embedder = Embedder(data, models)
    name = "banking77_train"
    examples = embedder.examples(embedder.read(name, PROFILES["fast"]), name)
    threads = int(os.environ.get("OPENBLAS_NUM_THREADS", "1"))
    options = TextFitOptions(out_of_domain_rate=0.05, threads=threads)
    trained = fit(examples, options, lambda epoch: None)
    blocks = embedder.read("banking77_test", PROFILES["fast"]).blocks
    dice = np.random.default_rng(0)
    others = {
        encoder: (block * (1 + 2**-11 * dice.uniform(-1, 1, block.shape))).astype(np.float32)
        for encoder, block in blocks.items()
    }
    here, there = trained.predict(blocks), trained.predict(others)
    return {
        "sha256": sha256(dump(trained)).hexdigest(),
        "moved": int((here.argmax(axis=1) != there.argmax(axis=1)).sum()),
        "difference": float(np.abs(here - there).max()),
    }


def bench_engine(report: Report, asked: argparse.Namespace) -> None:
    """Fit models on random vectors: 100,000 examples, then 957 labels of 5 examples each."""
    found = child(asked, "hundred-thousand")
    say(f"accuracy {found['accuracy']:.3f}, {found['processor']:.0f} s of processors")
    report.add("100,000 examples x 150 labels: fit", found["seconds"], "s")
    report.add("100,000 examples x 150 labels: peak", found["peak"], "MB", ceiling(3_000))
    found = child(asked, "many-labels")
    say(f"accuracy {found['accuracy']:.3f}, {found['processor']:.0f} s of processors")
    report.add("957 labels x 5 examples: fit", found["seconds"], "s", ceiling(15))
    report.add("957 labels x 5 examples: peak", found["peak"], "MB", ceiling(900))


def bench_many(report: Report, asked: argparse.Namespace) -> None:
    """Measure one process that serves a thousand models of 150 labels."""
    found = child(asked, "many-models")
    report.add("1,000 models behind one process: peak", found["peak"], "MB", ceiling(1_500))
    report.add("a cold model: p99", found["cold"], "ms", ceiling(100))
    report.add("a warm one among them: p50", found["warm"], "ms", ceiling(5))


def bench_bytes(report: Report, asked: argparse.Namespace) -> None:
    """Check that more threads or other matrix kernels do not change a model's artifact."""
    found = [child(asked, "banking", kernel) for kernel in KERNELS]
    digests = {str(one["sha256"]) for one in found}
    say(f"BANKING77: {', '.join(sorted(digests))}")
    report.add("BANKING77: different artifacts of 4 runs", len(digests), "", ceiling(1))
    first, name = found[0], "BANKING77, vectors off by a float16's rounding"
    report.add(f"{name}: other labels", first["moved"], "", ceiling(0))
    report.add(f"{name}: probabilities", first["difference"], "", ceiling(0.01))


def child(
    asked: argparse.Namespace, name: str, kernel: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Run the measurement `name` in a separate process."""
    folders = ("--data", str(asked.data), "--models", str(asked.models))
    done = subprocess.run(
        [sys.executable, "-m", "bench.text_scale", "--child", name, *folders],
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **(kernel or {})},
        text=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


PARTS: Mapping[str, Callable[[Report, argparse.Namespace], None]] = {
    "engine": bench_engine,
    "many": bench_many,
    "bytes": bench_bytes,
    "embedding": bench_parts,
    "service": bench_service,
    "interrupted": bench_interrupted,
    "words": bench_words,
}
CHILDREN: Mapping[str, Callable[[argparse.Namespace], Mapping[str, object]]] = {
    "hundred-thousand": lambda asked: train_clouds(100_000, 150, 3.0),
    "many-labels": lambda asked: train_clouds(957 * 5, 957, 2.0),
    "many-models": lambda asked: serve_many(asked.models),
    "banking": lambda asked: train_banking(asked.data, asked.models),
}


def main() -> int:
    """Run the selected parts; the exit status is 0 if every value meets its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--models", type=Path, default=ROOT / ".models")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--texts", type=int, default=TEXTS, help="most texts of an upload")
    parser.add_argument("--child", choices=list(CHILDREN), help="one measurement, as JSON")
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(CHILDREN[asked.child](asked)))
        return 0
    report = Report("Text engine: scale")
    for name in asked.only:
        PARTS[name](report, asked)
    return report.finish(BUILD / "text-scale.json")


if __name__ == "__main__":
    sys.exit(main())
