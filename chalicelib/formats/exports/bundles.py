"""Writes exported models: each is one zip archive with everything that predictions need.

The files of the archive are fixed, because the runtime and imports read them:

- `model.json`: type, labels, preprocessing, networks, and size and digest of every other file.
- `head.npz`: the arrays of the trained head, without pickled objects.
- `encoders/` or `backbones/`: the files of each network, as they are installed.
- `golden/`: sample inputs, and the service's predictions for them.
- `README.md`, `card.json`, `licences/`: model card and licences.

An archive of the format `onnx` contains the graph `model.onnx` and its tokenizers instead of the
head and the networks.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

from chalicelib.formats.exports.graph_use import graph_use

MODEL_FILE, HEAD_FILE, CARD_FILE = "model.json", "head.npz", "card.json"
README_FILE, GOLDEN_FILE = "README.md", "golden/golden.json"
FORMAT, GRAPH_FORMAT, FORMAT_VERSION = "presage-model", "presage-onnx", 1
GRAPH_FILE = "model.onnx"
_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip archive can name
_UNIX = 3
_CHUNK_BYTES = 1024 * 1024


class BundleArchive:
    """An archive that is being written. It records the size and the digest of each file."""

    def __init__(self, file: BinaryIO, check: Callable[[], None]) -> None:
        """Create an archive.

        Args:
            file: an open file to write to.
            check: called before each file is written; may raise an error to stop.
        """
        self._archive = zipfile.ZipFile(file, "w")
        self._check = check
        self.files: dict[str, dict[str, Any]] = {}
        """Size and digest of each written file, by name."""

    def __enter__(self) -> BundleArchive:
        """Return the archive."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the archive by writing its directory."""
        self._archive.close()

    def add(self, name: str, content: bytes) -> None:
        """Add a file."""
        self._check()
        self.files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        self._archive.writestr(_entry(name), content)

    def add_pieces(self, name: str, pieces: Iterable[bytes | memoryview]) -> None:
        """Add a file, given its content in several byte strings."""
        self._check()
        digest, size = hashlib.sha256(), 0
        with self._archive.open(_entry(name), "w", force_zip64=True) as target:
            for piece in pieces:
                for first in range(0, len(piece), _CHUNK_BYTES):
                    part = piece[first : first + _CHUNK_BYTES]
                    digest.update(part)
                    size += target.write(part)
        self.files[name] = {"bytes": size, "sha256": digest.hexdigest()}

    def add_json(self, name: str, document: Any) -> None:
        """Add a JSON document."""
        self.add(name, json.dumps(document, ensure_ascii=False, indent=1).encode())

    def add_file(self, name: str, path: Path) -> None:
        """Copy a file into the archive without reading it into memory as a whole."""
        self._check()
        with path.open("rb") as source:
            digest = hashlib.file_digest(source, "sha256").hexdigest()
            source.seek(0)
            with self._archive.open(_entry(name), "w", force_zip64=True) as target:
                shutil.copyfileobj(source, cast(BinaryIO, target), _CHUNK_BYTES)
        self.files[name] = {"bytes": path.stat().st_size, "sha256": digest}


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.create_system = _UNIX
    entry.external_attr = 0o644 << 16
    # Weights do not compress, and a reader can map stored files.
    is_text = name.endswith((".json", ".md", ".txt"))
    entry.compress_type = zipfile.ZIP_DEFLATED if is_text else zipfile.ZIP_STORED
    return entry


_TASKS = {
    "text-intent": "text-classification",
    "text-sentiment": "text-classification",
    "image": "image-classification",
    "image-multi-label": "image-classification",
    "image-detection": "object-detection",
}
_USE = """## Use

```sh
pip install presage_runtime-*.whl   # from the server's `make dist`
presage-runtime verify .            # compares with the answers in golden/
presage-runtime predict . {sample}
```

```python
from presage_runtime import load
model = load(".")
print(model.predict({call}))
```
"""


def readme(manifest: Mapping[str, Any], card: Mapping[str, Any]) -> str:
    """Return the README: the model card in Markdown, with front matter for Hugging Face.

    Args:
        manifest: content of `model.json`.
        card: content of `card.json`, the model card. It has no texts, names or ids of examples.
    """
    is_text = manifest["family"] == "language"
    labels, networks = manifest["labels"], manifest["networks"]
    head = {
        "license": "other",
        "library_name": "onnx" if "graph" in manifest else "presage-runtime",
        "pipeline_tag": _TASKS[manifest["type"]],
        "language": manifest["language"].lower().split("_")[0] or "en",
        "tags": ["presage", "onnx"],
        "base_model": [one["title"] for one in networks],
    }
    # JSON is YAML, and escapes whatever a label or name has in it.
    front = "".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items())
    rows = "".join(
        f"| {name} | {_figure(value)} |\n" for name, value in card.get("metrics", {}).items()
    )
    used = "".join(f"- {one['title']} ({one['licence']})\n" for one in networks)
    call = '"Where is my parcel?"' if is_text else 'open("photo.jpg", "rb").read()'
    title = f"# {_plain(manifest['name'])}\n\n"
    facts = f"Type {manifest['type']}, {len(labels)} labels, version {manifest['modelVersion']}.\n"
    shown = ", ".join(_plain(label) for label in labels[:50])
    use = _USE.format(sample="texts.txt" if is_text else "photo.jpg", call=call)
    return (
        f"---\n{front}---\n\n{title}{facts}\n"
        + (graph_use(manifest) if "graph" in manifest else use)
        + f"\n## Labels\n\n{shown}\n\n## Metrics\n\n| metric | value |\n|---|---|\n{rows}"
        + f"\n## Limits\n\n{card.get('limits', '')}\n\n## Networks\n\n{used}"
    )


def _figure(value: Any) -> str:
    if not isinstance(value, dict) or "value" not in value:
        return json.dumps(value)
    if value.get("low") is None:
        return str(value["value"])
    return f"{value['value']:.4g} (95 %: {value['low']:.4g} to {value['high']:.4g})"


def _plain(text: str) -> str:
    """Return a text on one line, without characters that have a meaning in Markdown or HTML."""
    return "".join(" " if char in "<>|`*_#[]\r\n" else char for char in text).strip()
