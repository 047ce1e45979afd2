"""The application with small batch parts, so that a short batch has several of them."""

from chalicelib.domain.jobs import batch
from tests.flows.two_views_app import app

__all__ = ["app"]

batch.PART_LINES.update({batch.INTENT: 100, batch.PREDICT: 8})
