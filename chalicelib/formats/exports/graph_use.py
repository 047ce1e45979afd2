"""Writes the section of the README about inputs and outputs of an exported ONNX graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_TEXT = """```python
import json, numpy, onnxruntime
from tokenizers import Tokenizer

facts = json.load(open("model.json"))
session = onnxruntime.InferenceSession("model.onnx")
encoders = facts["preprocessing"]["encoders"]
tokenizers = [Tokenizer.from_file(one["tokenizer"]) for one in encoders]

def predict(text):
    feeds, text = {}, text.replace("\\0", " ").strip()[:facts["preprocessing"]["maxCharacters"]]
    for one, tokenizer in zip(encoders, tokenizers):
        ids = tokenizer.encode(one["prefix"] + text).ids
        feeds[one["inputIds"]] = numpy.array([ids], numpy.int64)
        feeds[one["attentionMask"]] = numpy.ones((1, len(ids)), numpy.int64)
    return session.run(["probabilities", "rejected"], feeds)
```

One run reads one text. Texts of more than 120 characters may be read differently by the service,
which splits them into sentences if they have more than about 120 tokens.
"""
_IMAGE = """```python
import json, numpy, onnxruntime
from PIL import Image, ImageOps

facts = json.load(open("model.json"))
session = onnxruntime.InferenceSession("model.onnx")

def predict(file):
    image = ImageOps.exif_transpose(Image.open(file)).convert("RGB")
    feeds = {}
    for one in facts["preprocessing"]["images"]:
        margin = (1 - one["share"]) / 2
        box = [part * size for part in (margin, 1 - margin) for size in image.size]
        square = image.resize((one["side"],) * 2, Image.Resampling.BICUBIC, box, 2.0)
        feeds[one["input"]] = numpy.asarray(square, numpy.float32).transpose(2, 0, 1)[None]
    return session.run(["probabilities"], feeds)
```

The service decodes large JPEG files at a reduced size, and puts transparent images on white, so
its answers to those may differ.
"""


def graph_use(manifest: Mapping[str, Any]) -> str:
    """Return the section of the README that explains how to use the exported ONNX graph.

    Args:
        manifest: content of `model.json`.
    """
    graph = manifest["graph"]
    code = _TEXT if manifest["family"] == "language" else _IMAGE
    return (
        "## Use\n\n`model.onnx` runs in ONNX Runtime 1.18 or newer. The labels of the "
        "probabilities are those of `model.json`, in its order. `golden/` has inputs with the "
        f"answers of the service.\n\n{_table('input', graph['inputs'])}\n"
        f"{_table('output', graph['outputs'])}\n{code}"
    )


def _table(title: str, ports: Sequence[Mapping[str, Any]]) -> str:
    rows = "".join(
        f"| `{one['name']}` | {one['type']} | {' x '.join(map(str, one['shape']))} "
        f"| {one['meaning']} |\n"
        for one in ports
    )
    return f"| {title} | type | shape | content |\n|---|---|---|---|\n{rows}"
