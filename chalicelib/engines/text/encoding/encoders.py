"""Lists the encoders of each language and profile, and loads installed encoders.

infra/models.py installs encoders. The dependency container caches the loaded encoders.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chalicelib.commands import MODELS_COMMAND
from chalicelib.engines.facts import read_facts
from chalicelib.engines.text.encoding.interface import Encoder, EncoderFacts

# The installation writes this file last, so a folder with the file is complete.
FACTS_FILE = "encoder.json"
# Names of the profiles. `fast` has the encoders of every installation; `accurate` adds one that
# costs ten times as much.
FAST, ACCURATE = "fast", "accurate"
# Text prefixes with which the encoders were trained. `bge-sentiment` returns middle layers of bge,
# and converts emoji to words; only CommunitySentiment uses it.
PREFIXES = {"bge": "", "bge-sentiment": "", "mpnet": "", "e5": "query: "}
# The encoder of spelling, which has no files.
WORDS = "words"


class EncoderNotInstalled(FileNotFoundError):
    """Raised if files of an encoder are missing; infra/models.py installs them."""

    remedy = f"is not installed. Install it with: {MODELS_COMMAND} install"

    def __init__(self, name: str) -> None:
        super().__init__(f"The encoder {name} {self.remedy}")
        self.name = name


class EncoderDamaged(EncoderNotInstalled):
    """Raised if a file of an encoder has the right size but cannot be read."""

    remedy = (
        f"has damaged files. Run: {MODELS_COMMAND} verify, which names and removes them, "
        f"then {MODELS_COMMAND} install"
    )


def encoder_names(language: str, algorithm: str | None, profile: str = FAST) -> tuple[str, ...]:
    """Return the names of the encoders for a language, an algorithm and a profile.

    English models use English encoders. Models of other languages or of `multilingual-*` algorithms
    use multilingual encoders. The profile `accurate` adds a large encoder to the encoders of the
    profile `fast`.
    """
    is_english = language.lower().split("_")[0].split("-")[0] == "en"
    if is_english and not (algorithm or "").startswith("multilingual-"):
        return ("bge", "mpnet") if profile == ACCURATE else ("bge",)
    return ("e5", "use") if profile == ACCURATE else ("use",)


def _is_complete(folder: Path, files: object) -> bool:
    try:
        return (
            isinstance(files, dict)
            and bool(files)
            and all((folder / name).stat().st_size == file["bytes"] for name, file in files.items())
        )
    except (OSError, ValueError, TypeError, KeyError):
        # A damaged list counts as incomplete, so that the installation replaces it.
        return False


def _known(name: str, facts: Mapping[str, Any]) -> EncoderFacts:
    try:
        return EncoderFacts(
            name=name,
            title=facts["title"],
            sha256=facts["sha256"],
            licence=facts["licence"],
            dimensions=facts["dimensions"],
        )
    except KeyError as cause:
        raise EncoderNotInstalled(name) from cause


def is_installed(directory: Path, name: str) -> bool:
    """Return whether the model directory contains every file of the encoder `name` completely.

    The encoder `words` has no files, so it is always installed.
    """
    folder = directory / name
    return name == WORDS or _is_complete(folder, read_facts(folder / FACTS_FILE).get("files", {}))


def load_encoder(directory: Path, name: str) -> Encoder:
    """Load an installed encoder; the caller caches it.

    Args:
        directory: the model directory, with one folder for each encoder.
        name: `bge`, `use`, `bge-sentiment`, `minilm`, `mpnet`, `e5` or `words`.

    Raises:
        EncoderNotInstalled: files of the encoder are missing, or no encoder has this name.
        EncoderDamaged: files of the encoder cannot be read.
    """
    if name == WORDS:
        from chalicelib.engines.text.encoding.word_encoder import WordEncoder

        return WordEncoder(name)
    folder = directory / name
    facts = read_facts(folder / FACTS_FILE)
    if not _is_complete(folder, facts.get("files", {})):
        raise EncoderNotInstalled(name)
    known = _known(name, facts)
    try:
        return _open(folder, known)
    except (EncoderNotInstalled, MemoryError):
        raise
    # ONNX Runtime and tokenizers raise no narrower type for a damaged file.
    except Exception as cause:
        raise EncoderDamaged(name) from cause


def _open(folder: Path, facts: EncoderFacts) -> Encoder:
    name = facts.name
    # The encoders import native modules, which the API loads with the first prediction only.
    if name == "use":
        from chalicelib.engines.text.encoding.onnx_encoders import UseEncoder

        return UseEncoder(folder, facts)
    if name == "minilm":
        from chalicelib.engines.text.encoding.onnx_encoders import MiniLmEncoder

        return MiniLmEncoder(folder, facts)
    if name in PREFIXES:
        from chalicelib.engines.text.encoding.onnx_encoders import TransformerEncoder

        return TransformerEncoder(folder, facts, PREFIXES[name])
    raise EncoderNotInstalled(name)
