"""Prepares the demo: model files, an account with an access token, and two trained models.

The supervisor runs this module as a child process. When the child has ended, the supervisor prints
that the stack is ready.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chalicelib.commands import MODELS_COMMAND, administrator_command
from chalicelib.config import Settings
from chalicelib.errors import ServiceError
from infra.accounts import ensure_account, request_token
from infra.local.client import CallFailed, Service
from infra.local.environment import ROOT
from infra.local.options import Options
from infra.local.state import State
from infra.models import InstallError, install, missing
from infra.provision import install_globals
from infra.target import CommandError

SAMPLES = ROOT / "chalicelib" / "assets" / "samples"
QUESTION = "When will my parcel arrive?"
PICTURE = SAMPLES / "stop_sign.jpg"
# Life of the link that signs in to the console.
LINK_MINUTES = 10
# Time without progress after which an upload or a training has failed, in seconds.
STALLED_SECONDS = 600.0


@dataclass(frozen=True)
class DemoSample:
    """A file of examples that comes with the project."""

    family: str
    """`language` or `vision`."""
    type: str
    file: Path
    question: str
    """The predicted text or image, as the demo prints it."""


TEXTS = DemoSample("language", "text-intent", SAMPLES / "shop_intents.csv", f'"{QUESTION}"')
PICTURES = DemoSample("vision", "image", SAMPLES / "road_signs.zip", PICTURE.name)


@dataclass(frozen=True)
class Trained:
    """A trained model of the demo."""

    dataset_id: str
    model_id: str


def train_first(service: Service, sample: DemoSample, progress: Callable[[str], None]) -> Trained:
    """Upload a sample and train a model, unless an earlier start did so; predict with the model.

    Raises:
        CallFailed: a call failed or took too long.
    """
    base = f"/v2/{sample.family}"
    dataset_id = _find_dataset(service, base, sample) or _upload(service, base, sample, progress)
    model_id = _find_model(service, base, dataset_id)
    model_id = model_id or _train(service, base, dataset_id, sample, progress)
    progress(f"model {model_id}: trained")
    best = _predict(service, sample, model_id)["probabilities"][0]
    progress(f"{sample.question} is {best['label']} with probability {best['probability']:.3f}")
    return Trained(dataset_id, model_id)


def _find_dataset(service: Service, base: str, sample: DemoSample) -> str | None:
    found = service.get(f"{base}/datasets")["data"]
    wanted = (sample.file.stem, sample.type, True)
    same = (d for d in found if (d["name"], d["type"], d["available"]) == wanted)
    return next((str(dataset["id"]) for dataset in same), None)


def _find_model(service: Service, base: str, dataset_id: str) -> str | None:
    found = service.get(f"{base}/datasets/{dataset_id}/models")["data"]
    return next((str(m["modelId"]) for m in found if m["status"] == "SUCCEEDED"), None)


def _upload(
    service: Service, base: str, sample: DemoSample, progress: Callable[[str], None]
) -> str:
    fields = {"type": sample.type, "name": sample.file.stem}
    dataset_id = str(service.post(f"{base}/datasets/upload", fields, sample.file)["id"])
    dataset = service.wait(f"{base}/datasets/{dataset_id}", _is_uploaded, STALLED_SECONDS)
    if dataset["statusMsg"] != "SUCCEEDED":
        raise CallFailed(f"the upload of {sample.file.name}: {dataset['statusMsg']}")
    progress(f"dataset {dataset_id}: {dataset['totalExamples']} examples of {sample.file.name}")
    return dataset_id


def _train(
    service: Service,
    base: str,
    dataset_id: str,
    sample: DemoSample,
    progress: Callable[[str], None],
) -> str:

    def report(status: dict[str, Any]) -> None:
        progress(f"model {model_id}: {status['status']}, {status['progress']:.0%}")

    request = {"name": sample.file.stem, "datasetId": dataset_id}
    model_id = str(service.post(f"{base}/train", request)["modelId"])
    status = service.wait(f"{base}/train/{model_id}", _is_trained, STALLED_SECONDS, report)
    if status["status"] != "SUCCEEDED":
        raise CallFailed(f"the training: {status.get('failureMsg', status['status'])}")
    return model_id


def _predict(service: Service, sample: DemoSample, model_id: str) -> dict[str, Any]:
    fields = {"modelId": model_id}
    if sample.family == "vision":
        return service.post("/v2/vision/predict", fields, PICTURE, part="sampleContent")
    return service.post("/v2/language/intent", {**fields, "document": QUESTION})


def _is_uploaded(dataset: dict[str, Any]) -> bool:
    return str(dataset["statusMsg"]) != "UPLOADING"


def _is_trained(status: dict[str, Any]) -> bool:
    return status["status"] not in ("QUEUED", "RUNNING")


DEMO_EMAIL = "demo@presage.example"
# Used in the printed commands when the demo was skipped.
UNKNOWN = Trained("DATASET_ID", "MODEL_ID")


class ProgressPrinter:
    """Prints lines of progress with the seconds since the start."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, line: str) -> None:
        """Print one line."""
        print(f"[{time.monotonic() - self._started:6.1f} s] {line}", flush=True)


def run(settings: Settings, state: State, options: Options, url: str) -> None:
    """Prepare the demo and print the next steps; exit with status 1 if something fails."""
    progress = ProgressPrinter()
    try:
        _install_models(settings, progress, options.is_offline)
        account = ensure_account(settings, DEMO_EMAIL, state.demo_key)
        token = request_token(url, DEMO_EMAIL, state.demo_key, minutes=24 * 60)
        progress(
            f"account {account.account_id}: {DEMO_EMAIL}, its key is {_short_path(state.demo_key)}"
        )
        service = Service(url, token)
        samples = (TEXTS, PICTURES) if options.has_demo else ()
        trained = {sample.family: train_first(service, sample, progress) for sample in samples}
        # Last, because the ingest worker is busy with its embeddings for a while.
        _install_globals(settings, progress)
    except (CallFailed, CommandError, ServiceError) as error:
        print(f"the demo failed: {error}", file=sys.stderr, flush=True)
        sys.exit(1)
    print(_instructions(url, state, settings, token, trained), flush=True)
    print(_console(url, state), flush=True)


def _install_models(settings: Settings, progress: ProgressPrinter, is_offline: bool) -> None:
    """Install missing model files; without them the service runs and reports them as missing."""
    folder = Path(settings.model_dir)
    missing_models = missing(folder)
    if not missing_models:
        return
    if is_offline:
        progress(
            f"model files are missing: {', '.join(missing_models)}. Install them while there is a "
            f"network: {MODELS_COMMAND} install"
        )
        return
    try:
        install(folder, missing_models, progress, terminal=sys.stdout)
    except InstallError as error:
        progress(f"model files are missing: {error}")


def _install_globals(settings: Settings, progress: ProgressPrinter) -> None:
    try:
        install_globals(settings, progress)
    except RuntimeError as error:
        progress(f"global datasets are missing: {error}")


def _instructions(
    url: str, state: State, settings: Settings, token: str, models: dict[str, Trained]
) -> str:
    """Return the addresses and the commands to try next."""
    key = _short_path(state.demo_key)
    lines = [
        "",
        f"  HTTP      {url}",
        f"  AWS       {settings.endpoint_url or f'region {settings.region}'}",
        f"  account   {DEMO_EMAIL}",
        f"  key       {key}",
        f"  token     {token}",
        "",
        f"  TOKEN=$({_accounts_command()} token {DEMO_EMAIL} --key-file {key})",
    ]
    for sample in (TEXTS, PICTURES):
        lines += _commands(f"{url}/v2/{sample.family}", sample, models.get(sample.family, UNKNOWN))
    return "\n".join([*lines, "", _reading(f"{url}/v2/vision"), ""])


def _console(url: str, state: State) -> str:
    """Return the link that signs a user in to the console."""
    # Browsers do not send the part after #, so the token appears in no server's log.
    token = request_token(url, DEMO_EMAIL, state.demo_key, minutes=LINK_MINUTES)
    return f"  console   {url}/console#token={token}\n            (for {LINK_MINUTES} minutes)\n"


def _reading(base: str) -> str:
    page = _short_path(SAMPLES / "sample_page.png")
    return (
        '  curl -H "Authorization: Bearer $TOKEN" -F modelId=OCRModel -F task=text '
        f"-F sampleContent=@{page} {base}/ocr"
    )


def _commands(base: str, sample: DemoSample, trained: Trained) -> list[str]:
    """Return the shell commands that upload, train and predict."""
    curl = '  curl -H "Authorization: Bearer $TOKEN"'
    asks = {
        "language": f"-F 'document={QUESTION}' {base}/intent",
        "vision": f"-F sampleContent=@{_short_path(PICTURE)} {base}/predict",
    }
    return [
        "",
        f"{curl} -F type={sample.type} -F data=@{_short_path(sample.file)} {base}/datasets/upload",
        f"{curl} {base}/datasets/{trained.dataset_id}",
        f"{curl} -F name=first -F datasetId={trained.dataset_id} {base}/train",
        f"{curl} {base}/train/{trained.model_id}",
        f"{curl} -F modelId={trained.model_id} {asks[sample.family]}",
    ]


def _accounts_command() -> str:
    """Return the command that manages accounts, with the path of the stack's Python."""
    return administrator_command("accounts").replace("python", _short_path(Path(sys.executable)), 1)


def _short_path(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
