"""The application with thresholds so low that a small training runs in distributed parts.

A training whose parts are not done does them itself after seconds, not after minutes.
"""

from app import app
from chalicelib.engines.text.encoding import profiles
from chalicelib.stores.jobs import turns

__all__ = ["app"]

profiles._SECONDS_PER_WORD["bge"] = 0.03
turns.PARTS_SECONDS = 20.0
