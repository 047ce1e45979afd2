"""Compares detectors that the current commit trains with detectors of an earlier commit.

A part of bench/bench_vision.py. Each commit trains in a separate process, in a git worktree with
this environment's packages. The processes take turns of a few seconds, so that both run under the
same conditions. Uncommitted changes are not measured.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

from bench.bench_warm import tree_of
from bench.report import Bar, Report, ceiling, say

SETS = {
    "raccoon": ("object-detection", 0.6),
    "bccd": ("object-detection", 1.0),
    "shelf": ("retail-execution", 0.6),
}
"""Algorithm and largest processor time, relative to the base, of a training on each dataset."""
LARGEST_LOSS = 0.01
"""Largest decrease of AP50."""
TURN_SECONDS = 5
SIDE = """
import json, sys, time
from pathlib import Path
from bench.vision_boxes import mean_precision, read_boxes
from chalicelib.engines.vision.backbone.pool import BackbonePool
from infra.models import default_directory

folder, name, algorithm, seed = sys.argv[1:]
boxes = read_boxes(Path(folder), BackbonePool(default_directory()), name, algorithm)
began = time.process_time()
_, model, _ = boxes.trained(boxes.copied(boxes.data), int(seed))
seconds = time.process_time() - began
found, truths = boxes.asked(model)
print(json.dumps([mean_precision(found, truths, boxes.train.labels, 1)[0], seconds]))
"""
"""Program of one commit: prints AP50 on the test images, and the processor time of the training."""


def bench_base(report: Report, data: Path, base: str, names: Iterable[str], seeds: int) -> None:
    """Report AP50 and processor time of trainings on whole datasets, for both commits.

    Args:
        report: receives the figures.
        data: folder of the evaluation data.
        base: commit with which the current commit is compared.
        names: datasets; those that are not in SETS are not measured.
        seeds: number of trainings of each commit on each dataset.
    """
    with ExitStack() as opened:
        trees = [
            opened.enter_context(tree_of(commit, name))
            for commit, name in (("HEAD", "vision-here"), (base, "vision-base"))
        ]
        for name in names:
            if name in SETS:
                _compare(report, data.resolve(), name, trees, seeds)


def _compare(report: Report, data: Path, name: str, trees: Sequence[Path], seeds: int) -> None:
    algorithm, most = SETS[name]
    found = []
    for seed in range(seeds):
        # Each commit is first equally often, because the order may matter.
        order = trees if seed % 2 else trees[::-1]
        trained = _train([str(data), name, algorithm, str(seed)], order)
        found.append([trained[tree] for tree in trees])
        say(f"{name}, seed {seed}: AP50 and CPU s of both commits: {found[-1]}")
    (here, spent), (base, base_spent) = np.mean(found, axis=0).tolist()
    loss = Bar(base - LARGEST_LOSS)
    report.add(f"{name}: AP50", here, "", loss, ("base", round(base, 4)))
    report.add(f"{name}: training, CPU", spent, "s", None, ("base", round(base_spent, 1)))
    report.add(f"{name}: training, relative to the base", spent / base_spent, "x", ceiling(most))


def _train(arguments: Sequence[str], trees: Sequence[Path]) -> dict[Path, list[float]]:
    """Train in all working trees, in alternating steps; return AP50 and processor time by tree."""
    command = [sys.executable, "-c", SIDE, *arguments]
    sides = {
        tree: subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, text=True)
        for tree in trees
    }
    try:
        for side in sides.values():
            side.send_signal(signal.SIGSTOP)
        while running := [side for side in sides.values() if side.poll() is None]:
            for side in running:
                side.send_signal(signal.SIGCONT)
                with suppress(subprocess.TimeoutExpired):
                    side.wait(TURN_SECONDS)
                side.send_signal(signal.SIGSTOP)
        return {tree: _answer(side) for tree, side in sides.items()}
    finally:
        for side in sides.values():
            side.kill()


def _answer(side: subprocess.Popen[str]) -> list[float]:
    """Wait for a process, and parse the last line that it printed."""
    output = side.communicate()[0]
    assert side.returncode == 0, output
    return [*json.loads(output.splitlines()[-1])]
