"""The application, where little work counts as much: trainings of some hundred texts give it away.

And where a training that heard nothing of its parts does them itself soon, not after minutes.
"""

from app import app
from chalicelib.engines.text.encoding import profiles
from chalicelib.stores.jobs import training_queue

__all__ = ["app"]

profiles._SECONDS_PER_WORD["bge"] = 0.03
training_queue.PARTS_SECONDS = 20.0
