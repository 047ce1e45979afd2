"""What a newcomer does, by the generated client alone; prints what came back as JSON.

Run in the environment of the generator: python calls.py URL ASSERTION TEXTS PICTURE.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from generated import AuthenticatedClient, Client
from generated.models import (
    CreateTokenDataTokenForm,
    CreateTokenDataTokenFormGrantType,
    ErrorRecord,
    PredictIntentLanguageJsonTextForm,
    RunOcrVisionFilesOcrForm,
    RunOcrVisionFilesOcrFormTask,
    TrainLanguageJsonTrainForm,
    UploadDatasetSyncLanguageFilesUploadForm,
    UploadDatasetSyncLanguageFilesUploadFormType,
)
from generated.types import File

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
QUESTION = "will it rain tomorrow"


def call(name: str, *ids: Any, **arguments: Any) -> Any:
    """Make the call of an operation; an error of the service is an error here."""
    answer = importlib.import_module(f"generated.api.{name}").sync(*ids, **arguments)
    if answer is None or isinstance(answer, ErrorRecord):
        raise RuntimeError(f"{name} answered {answer}")
    return answer


def trained(client: AuthenticatedClient, model_id: str) -> Any:
    """Wait until a training has ended."""
    while True:
        seen = call("models.get_training_language", model_id, client=client)
        if seen.status in ("SUCCEEDED", "FAILED"):
            return seen
        time.sleep(0.2)


def main(url: str, assertion: str, texts: str, picture: str) -> None:
    """Make the calls."""
    grant = CreateTokenDataTokenFormGrantType(GRANT)
    body = CreateTokenDataTokenForm(grant_type=grant, assertion=assertion)
    token = call("accounts.create_token", client=Client(base_url=url), body=body)
    client = AuthenticatedClient(base_url=url, token=token.access_token, timeout=60)
    with Path(texts).open("rb") as stream:
        kind = UploadDatasetSyncLanguageFilesUploadFormType.TEXT_INTENT
        table = File(payload=stream, file_name="weather.csv", mime_type="text/csv")
        body = UploadDatasetSyncLanguageFilesUploadForm(type_=kind, data=table)
        dataset = call("datasets.upload_dataset_sync_language", client=client, body=body)
    with Path(picture).open("rb") as stream:
        page = File(payload=stream, file_name="page.png", mime_type="image/png")
        task = RunOcrVisionFilesOcrFormTask.CONTACT
        body = RunOcrVisionFilesOcrForm(model_id="OCRModel", task=task, sample_content=page)
        contacts = call("predictions.run_ocr_vision", client=client, body=body)
    body = TrainLanguageJsonTrainForm(name="weather", dataset_id=dataset.id)
    model = trained(client, call("models.train_language", client=client, body=body).model_id)
    body = PredictIntentLanguageJsonTextForm(model_id=model.model_id, document=QUESTION)
    intent = call("predictions.predict_intent_language", client=client, body=body)
    page = call("datasets.list_dataset_examples_language", dataset.id, client=client, count=3)
    datasets = call("datasets.list_datasets_language", client=client)
    usage = call("accounts.list_usage", client=client)
    said = {
        "kept": dataset.total_examples,
        "status": model.status,
        "label": intent.probabilities[0].label,
        "examples": [item.label.name for item in page.data],
        "datasets": [item.id == dataset.id for item in datasets.data],
        "used": usage.data[0].predictions_used,
        "contacts": [type(contacts).__name__, len(contacts.probabilities)],
    }
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
