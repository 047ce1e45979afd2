"""The names of the networks that engines load, and the modules that use each network."""

from __future__ import annotations

from chalicelib.engines.ocr.interface import PPOCR
from chalicelib.engines.ocr.pool import SLANET
from chalicelib.engines.vision.backbone.pool import LITE2, NANODET

# Encoders of the fast profile. Starting the service installs them, so it can load them at once.
FAST_ENCODERS = ("bge", "use")
# Encoders that the accurate profile adds; they are large, so only a model that needs one loads it.
ACCURATE_ENCODERS = ("mpnet", "e5")
# Backbones of the vision engines.
BACKBONES = (LITE2, NANODET)
# Networks that read documents.
READERS = (PPOCR, SLANET)


def modules_of(name: str) -> tuple[str, ...]:
    """Return the names of the modules to import before a network is used for the first time."""
    if name in READERS:
        return "chalicelib.formats.documents", "chalicelib.engines.ocr.tasks"
    if name in BACKBONES:
        return "chalicelib.formats.pictures.reading", "chalicelib.engines.vision.registry"
    return ("chalicelib.engines.text.training",)
