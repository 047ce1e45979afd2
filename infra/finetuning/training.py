"""The recipe: class-weighted cross-entropy with label smoothing, less than two passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from chalicelib.domain.common.arrays import Halves, Ints
from infra.finetuning.network import DIMENSIONS, Network

_POOL_BATCHES = 50
"""Batches whose texts are sorted by length together, so that little is padding."""


@dataclass(frozen=True)
class TuningRecipe:
    """Everything that decides what comes out, beside data and machine."""

    seed: int = 0
    epochs: float = 1.6
    batch: int = 32
    rate: float = 5e-5
    """Highest learning rate of the layers."""
    head_rate: float = 5e-4
    """Highest learning rate of the head, which begins with zeros."""
    warm_up: float = 0.06
    """Share of the steps in which the rates rise."""
    decay: float = 0.01
    smoothing: float = 0.05


def collate(states: Sequence[Halves]) -> tuple[Tensor, Tensor]:
    """Pad texts to one length: float32, (texts, tokens, dimensions); bool, (texts, tokens)."""
    longest = max(len(state) for state in states)
    padded = torch.zeros(len(states), longest, DIMENSIONS)
    mask = torch.zeros(len(states), longest, dtype=torch.bool)
    for row, state in enumerate(states):
        padded[row, : len(state)] = torch.from_numpy(state.astype(np.float32))
        mask[row, : len(state)] = True
    return padded, mask


def train(
    network: Network,
    states: Sequence[Halves],
    labels: Sequence[int],
    recipe: TuningRecipe,
    progress: Callable[[str], None],
) -> None:
    """Tune the network in place."""
    truth = np.asarray(labels)
    counts = np.bincount(truth)
    weights = torch.tensor(len(truth) / (len(counts) * counts), dtype=torch.float32)
    loss_of = nn.CrossEntropyLoss(weights, label_smoothing=recipe.smoothing)
    layers = {"params": list(network.layers.parameters()), "lr": recipe.rate}
    head = {"params": list(network.head.parameters()), "lr": recipe.head_rate}
    optimizer = torch.optim.AdamW([layers, head], weight_decay=recipe.decay)
    steps = int(recipe.epochs * len(truth) / recipe.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: _rate(step, steps, recipe.warm_up)
    )
    network.train()
    total = 0.0
    batches = _batches([len(state) for state in states], recipe)
    for step in range(1, steps + 1):
        rows = next(batches)
        padded, mask = collate([states[row] for row in rows])
        with torch.autocast("cpu", torch.bfloat16):
            loss = loss_of(network(padded, mask), torch.from_numpy(truth[rows]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % 25 == 0:
            progress(f"step {step} of {steps}: loss {total / 25:.4f}")
            total = 0.0
    network.eval()


def _rate(step: int, steps: int, warm_up: float) -> float:
    """Share of the highest learning rate: up in a line, then down in a line."""
    rise = max(1, int(warm_up * steps))
    return (step + 1) / rise if step < rise else (steps - step) / (steps - rise)


def _batches(lengths: Sequence[int], recipe: TuningRecipe) -> Iterator[Ints]:
    """Yield rows of texts of about the same length, every text once a pass, for ever."""
    random = np.random.default_rng(recipe.seed)
    sizes = np.asarray(lengths)
    while True:
        order = random.permutation(len(sizes))
        pool = _POOL_BATCHES * recipe.batch
        batches = []
        for first in range(0, len(order), pool):
            part = order[first : first + pool]
            part = part[np.argsort(sizes[part], kind="stable")]
            batches += [part[at : at + recipe.batch] for at in range(0, len(part), recipe.batch)]
        for place in random.permutation(len(batches)):
            yield batches[place]
