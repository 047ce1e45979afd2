"""What a start shows: models, a demo account with a token, and a first trained model.

Runs as a child of the supervisor, which prints the ready line afterwards.
See infra/local/supervisor.py.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.config import Settings
from chalicelib.errors import ServiceError
from infra.accounts import CommandError, ensure_account, request_token
from infra.local.calls import CallFailed, Service
from infra.local.options import Options
from infra.local.state import State
from infra.local.surroundings import ROOT
from infra.models import InstallError, install, missing
from infra.provision import install_globals

DEMO_EMAIL = "demo@presage.example"
SAMPLE = ROOT / "chalicelib" / "assets" / "samples" / "shop_intents.csv"
QUESTION = "When will my parcel arrive?"
TRAINING_SECONDS = 300.0
"""Longest wait for the first model, in seconds."""


@dataclass(frozen=True)
class Trained:
    """The first model."""

    dataset_id: int
    """Its data set."""
    model_id: str
    """The model."""


class Teller:
    """Prints lines of progress with the time since the start, in seconds."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, line: str) -> None:
        """Print one line."""
        print(f"[{time.monotonic() - self._started:6.1f} s] {line}", flush=True)


def run(settings: Settings, state: State, options: Options, url: str) -> None:
    """Prepare the demo and print how to go on; ends the process with 1 when something fails."""
    tell = Teller()
    try:
        _install_models(settings, tell)
        account = ensure_account(settings, DEMO_EMAIL, state.demo_key)
        token = request_token(url, DEMO_EMAIL, state.demo_key, minutes=24 * 60)
        tell(f"account {account.account_id}: {DEMO_EMAIL}, its key is {_shown(state.demo_key)}")
        trained = _first_model(Service(url, token), tell) if options.has_demo else None
        # Last, because its embeddings keep the ingest worker busy for a while.
        _install_globals(settings, tell)
    except (CallFailed, CommandError, ServiceError) as trouble:
        print(f"the demo failed: {trouble}", file=sys.stderr, flush=True)
        sys.exit(1)
    print(_instructions(url, state, settings, token, trained), flush=True)


def _install_models(settings: Settings, tell: Teller) -> None:
    """Install what is missing; without it the service runs, and says so where it is needed."""
    folder = Path(settings.model_dir)
    absent = missing(folder)
    if not absent:
        return
    tell(f"installing model files: {', '.join(absent)}")
    try:
        install(folder, absent, tell)
    except InstallError as trouble:
        tell(f"model files are missing: {trouble}")


def _install_globals(settings: Settings, tell: Teller) -> None:
    """Install the data sets that every account may read."""
    try:
        install_globals(settings, tell)
    except RuntimeError as trouble:
        tell(f"global data sets are missing: {trouble}")


def _first_model(service: Service, tell: Teller) -> Trained:
    """Upload the sample, train it and ask it, all by the public interface.

    Raises:
        CallFailed: a call was refused or took too long.
    """
    fields = {"type": "text-intent", "name": SAMPLE.stem}
    dataset_id = int(service.post("/v2/language/datasets/upload", fields, SAMPLE)["id"])
    dataset = service.wait(f"/v2/language/datasets/{dataset_id}", _is_uploaded, 60)
    if dataset["statusMsg"] != "SUCCEEDED":
        raise CallFailed(f"the upload of {SAMPLE.name}: {dataset['statusMsg']}")
    tell(f"data set {dataset_id}: {dataset['totalExamples']} examples of {SAMPLE.name}")
    request = {"name": SAMPLE.stem, "datasetId": str(dataset_id)}
    model_id = str(service.post("/v2/language/train", request)["modelId"])
    status = service.wait(f"/v2/language/train/{model_id}", _is_trained, TRAINING_SECONDS)
    if status["status"] != "SUCCEEDED":
        raise CallFailed(f"the training: {status.get('failureMsg', status['status'])}")
    tell(f"model {model_id}: trained")
    best = _ask(service, model_id)
    tell(f'"{QUESTION}" is {best["label"]} with probability {best["probability"]:.3f}')
    return Trained(dataset_id, model_id)


def _is_uploaded(dataset: dict[str, Any]) -> bool:
    """Tell whether an upload is over."""
    return str(dataset["statusMsg"]) != "UPLOADING"


def _is_trained(status: dict[str, Any]) -> bool:
    """Tell whether a training is over."""
    return status["status"] not in ("QUEUED", "RUNNING")


def _ask(service: Service, model_id: str) -> dict[str, Any]:
    """Ask the model one question and return the best answer."""
    answer = service.post("/v2/language/intent", {"modelId": model_id, "document": QUESTION})
    return dict(answer["probabilities"][0])


def _instructions(
    url: str, state: State, settings: Settings, token: str, trained: Trained | None
) -> str:
    """Write what a newcomer may type next."""
    key = _shown(state.demo_key)
    dataset_id = trained.dataset_id if trained else "DATASET_ID"
    model_id = trained.model_id if trained else "MODEL_ID"
    curl = 'curl -H "Authorization: Bearer $TOKEN"'
    language = f"{url}/v2/language"
    lines = [
        "",
        f"  HTTP      {url}",
        f"  AWS       {settings.endpoint_url or f'region {settings.region}'}",
        f"  account   {DEMO_EMAIL}",
        f"  key       {key}",
        f"  token     {token}",
        "",
        f"  TOKEN=$({_shown(Path(sys.executable))} -m infra.accounts token {DEMO_EMAIL} "
        f"--key-file {key})",
        f"  {curl} -F type=text-intent -F data=@{_shown(SAMPLE)} {language}/datasets/upload",
        f"  {curl} {language}/datasets/{dataset_id}",
        f"  {curl} -F name=first -F datasetId={dataset_id} {language}/train",
        f"  {curl} {language}/train/{model_id}",
        f"  {curl} -F modelId={model_id} -F 'document={QUESTION}' {language}/intent",
        "",
    ]
    return "\n".join(lines)


def _shown(path: Path) -> str:
    """Write a path as short as the current folder allows."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
