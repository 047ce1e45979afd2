"""Measures the task `text` on drawn A4 pages that are bent, darkened, faded or scaled down."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from bench.ocr_data import Sample, read_rendered
from bench.ocr_reading import interval
from bench.ocr_text import read_set
from bench.ocr_text_metrics import total
from bench.report import Bar
from tests.curling import KINDS, curled

if TYPE_CHECKING:
    from bench.bench_ocr import Bench

PAGES = 10
"""Number of bent pages: each drawn page twice, and each kind of bend twice."""
SEED = 100

Change = Callable[[Any, int], Any]
"""Changes RGB pixels, given the page's number."""


def bench_curled(bench: Bench) -> None:
    """Measure every set of changed pages."""
    drawn = [sample for sample, _ in read_rendered(bench.data, "text")]
    twice = [drawn[number % len(drawn)] for number in range(PAGES)]
    _bench(bench, "bent pages (45 px of 1,240)", twice, bend, 0.90)
    _bench(bench, "dark pages (shadow to 15 % of the light)", drawn, shade, 0.90)
    _bench(bench, "pale pages (a tenth of the contrast)", drawn, fade, 0.90)
    _bench(bench, "small print (about 7 px)", drawn, shrink, 0.90)


def bend(pixels: Any, number: int) -> Any:
    """Bend a page. The number of the page decides the kind and the amount of the bend."""
    kind = KINDS[(number + number // len(KINDS)) % len(KINDS)]
    return curled(pixels, kind, SEED + number)


def shade(pixels: Any, number: int) -> Any:
    """Darken a page by a shadow from one side, and add noise. `number` decides the side."""
    height, width = pixels.shape[:2]
    side = (
        np.linspace(1, 0.15, width)[None, :]
        if number % 2
        else np.linspace(1, 0.15, height)[:, None]
    )
    return _noisy(pixels * side[..., None], number)


def fade(pixels: Any, number: int) -> Any:
    """Reduce the contrast between ink and paper to a tenth, on grey paper."""
    return _noisy(150 + pixels * 0.1, number)


def shrink(pixels: Any, number: int) -> Any:
    """Scale a page down to 720 pixels wide, so that small letters are about 7 pixels high."""
    del number
    image = Image.fromarray(pixels)
    size = 720, round(720 * image.height / image.width)
    return np.asarray(image.resize(size, Image.Resampling.BOX))


def _noisy(pixels: Any, seed: int) -> Any:
    """Add camera noise of two grey levels to pixels."""
    noise = np.random.default_rng(seed).normal(0, 2, pixels.shape)
    return np.clip(np.rint(pixels + noise), 0, 255).astype(np.uint8)


def _bench(bench: Bench, name: str, samples: list[Sample], change: Change, bar: float) -> None:
    """Report word F1 and cost of changed pages."""
    changed = [
        replace(sample, content=_changed(sample.content, change, number))
        for number, sample in enumerate(samples)
    ]
    found = read_set(bench.reader, changed, bench.plots)
    peer = None if bench.peer is None else read_set(bench.peer, changed)
    bench.add(
        f"{name}: word F1",
        found.f1,
        Bar(bar),
        peer and peer.f1,
        interval(found.tallies, lambda some: total(some).f1),
    )
    bench.add_cpu(name, found.cost, None, peer and peer.cost)


def _changed(content: bytes, change: Change, number: int) -> bytes:
    pixels = change(np.asarray(Image.open(io.BytesIO(content)).convert("RGB")), number)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", compress_level=1)
    return stream.getvalue()
