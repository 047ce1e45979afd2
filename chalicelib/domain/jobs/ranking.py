"""Rankings, which select the samples that should be labelled first. See beyond.md, section 7.

A ranking is a batch. After all lines are answered, some of them are selected.
"""

from __future__ import annotations

from chalicelib.domain.datasets.dataset import DETECTION, LANGUAGE
from chalicelib.domain.jobs.batch import FAMILY_NOUNS, KIND_TYPES, RANK
from chalicelib.domain.models.model import PREBUILT, ServedModel
from chalicelib.errors import InvalidParameter

# Samples of a ranking if no number is sent: about an hour of labelling.
RANKED_DEFAULT = 100
# Most samples of a ranking. After that many labels, a retrained model ranks the rest better.
MAX_RANKED = 1_000


def check_ranked(family: str, model: ServedModel) -> None:
    """Raise InvalidParameter if a ranking cannot use a model."""
    types = [kind for kind in KIND_TYPES[RANK] if kind.startswith("text") == (family == LANGUAGE)]
    allowed = " or ".join(types)
    if model.type not in types:
        remedy = f"train one of type {allowed}"
        if model.type == DETECTION:
            remedy = (
                "the probabilities of boxes do not show which objects it misses. Predict the "
                "images with POST /v2/vision/batches, and label those whose boxes are wrong"
            )
        raise InvalidParameter(
            "modelId",
            f"the model is of type {model.type}; a ranking of {FAMILY_NOUNS[family]} takes one of "
            f"type {allowed}: {remedy}.",
        )
    if model.model_id in PREBUILT:
        raise InvalidParameter(
            "modelId",
            f"{model.model_id} ships with the service and does not learn from labels. Train a "
            f"model of your own, of type {allowed}, with a few examples of each label, and rank "
            "with that.",
        )
