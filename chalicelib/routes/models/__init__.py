"""Trainings and models."""

from chalicelib.routes.models import adjusting, exports, importing, models, training, versions

MODULES = (
    training,
    models,
    versions,
    exports,
    adjusting,
    importing,
)
