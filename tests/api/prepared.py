"""One prepared service for all tests; its rows and objects are restored before each test.

Everything is real but clock, engines and network: accounts, tokens, datasets, trained models.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from chalicelib.config import Settings
from chalicelib.container import Container
from chalicelib.domain.accounts.account import Account
from chalicelib.domain.accounts.usage import EXAMPLES as EXAMPLES
from chalicelib.domain.accounts.usage import PREDICTIONS as PREDICTIONS
from chalicelib.domain.datasets.dataset import DatasetView
from chalicelib.domain.datasets.upload import UploadFields
from chalicelib.domain.models.model import OCR, PREBUILT, TrainRequest
from chalicelib.engines.ocr.interface import PPOCR
from chalicelib.formats.tokens.rsa_key import new_private_pem
from chalicelib.services.accounts.accounts import AccountService
from chalicelib.stores.aws.tables import DatasetRow, ModelRow, QuotaRow
from tests.administration import public_half
from tests.builders import Snapshot, World, empty_aws, some_rows
from tests.conftest import MovableClock
from tests.pictures import detection_files, draw_scene, label_folders
from tests.tiny_ocr import Read, TinyEngine
from tests.tiny_vision import install
from tests.tricks import Tricks

SECRET = "a signing key of the tests, longer than 32 bytes"
# When calls are counted; the next month begins after 60 seconds.
LAST_MINUTE = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
MONTH = "2026-11"
# Datasets of types text-intent, image, image-detection, and the next one.
DATASET_ID, ALBUM_ID, SCENES_ID, NEXT_ID = range(1_000_001, 1_000_005)
# Labels of the texts, of six examples each.
REFUND, DELIVERY = 10_001, 10_002
MODEL_ID = "7JYVH57NDS3MB7HS76ZPVQQXJA"
IMAGE_MODEL_ID = "IMAGEH57NDS3MB7HS76ZPVQXJA"
BOX_MODEL_ID = "BOXVH57NDS3MB7HS76ZPVQQXJA"
# Three quarters of it are red, the rest is blue, which the models of pictures tell apart.
PICTURE = draw_scene(
    [("square", "red", (0, 0, 36, 32)), ("square", "blue", (36, 0, 12, 32))], (48, 32), kind="PNG"
)
# Predictions of the month when a test begins.
USED = 10
AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"


class Prepared(World):
    """The prepared data of every test: an account with datasets and models."""

    def __init__(self, settings: Settings, folder: Path, tricks: Tricks) -> None:
        """Make everything.

        Args:
            settings: of the service.
            folder: an empty one, becomes that of the models.
            tricks: the server that stands for the network.
        """
        for model_id in (name for name, kind in PREBUILT.items() if kind == OCR):
            (folder / "prebuilt" / model_id).mkdir(parents=True)
            (folder / "prebuilt" / model_id / "card.json").write_text("{}")
        allowed = (f"127.0.0.1:{tricks.port}",)
        settings = replace(settings, model_dir=str(folder), download_allow=allowed)
        empty_aws(settings)
        self.pem = new_private_pem()
        self.key = load_pem_private_key(self.pem.encode(), None)
        self.tricks = tricks
        super().__init__(settings, MovableClock(LAST_MINUTE))
        self.account, self.token = self.sign_up("a@example.test")
        self._make_data()
        self.messages()
        self.use(PREDICTIONS, USED)
        self._snapshot = Snapshot(settings)
        self.restore()

    def accounts(self) -> AccountService:
        """Return the administrator's account service."""
        s = self.stores
        stores = s.accounts, s.refresh_tokens, s.api_keys
        return AccountService(*stores, self.clock, s.page_images)

    def sign_up(self, email: str) -> tuple[Account, str]:
        """Create an account and obtain a token for it."""
        made = self.accounts().create(email, "STARTER", "HEROKU", public_half(self.pem))
        granted = self.container.tokens.grant_assertion(self.assertion(sub=email))
        return made.account, granted.access_token

    def _make_data(self) -> None:
        """Upload texts, images and images with boxes, and train a model on each."""
        rows = some_rows({"refund": 6, "delivery": 6})
        shop = self.dataset(rows, fields=UploadFields("shop", "text-intent"))
        self._train(shop, MODEL_ID, TrainRequest(epochs=3, algorithm="multilingual-intent"))
        with pytest.MonkeyPatch.context() as patch:
            install(patch)
            album = self.upload_pictures(label_folders({"red": 2, "blue": 2}))
            scenes = self.upload_pictures(detection_files(2, ("red",)), "image-detection")
            self.work()
            self._train(self.get(album), IMAGE_MODEL_ID)
            self._train(self.get(scenes), BOX_MODEL_ID)

    def _train(self, view: DatasetView, model_id: str, request: TrainRequest | None = None) -> None:
        """Train a model with the fixed id that test parameters use."""
        with pytest.MonkeyPatch.context() as patch:
            draw_id(patch, model_id)
            self.train(view, request)
        self.work()

    def restore(self) -> None:
        """Restore every row and object, and empty the queues."""
        self._snapshot.restore()
        self.clock.now = LAST_MINUTE
        # A new process, so that nothing is cached of another test's rows.
        encoders = self.container.encoders
        self.container = Container(self.settings, self.clock)
        self.stores = self.container.stores
        self.container.encoders = encoders
        self.reads(lambda pixels, check: ("EXIT",))
        self.stores.clients.bind_tables()

    def reads(self, read: Read) -> None:
        """Replace the OCR engine by a function."""
        self.engine = TinyEngine(read)
        self.container.readers._engines[PPOCR] = self.engine

    def assertion(self, **claims: object) -> str:
        """Sign the assertion with which the account's owner requests a token."""
        usual = {"sub": "a@example.test", "aud": AUDIENCE}
        usual["exp"] = int(self.clock().timestamp()) + 900
        return jwt.encode({**usual, **claims}, self.key, algorithm="RS256")

    def refresh_token(self) -> str:
        """Obtain a refresh token."""
        granted = self.container.tokens.grant_assertion(self.assertion(), "offline")
        assert granted.refresh_token is not None
        return granted.refresh_token

    def use(self, kind: str, count: int) -> None:
        """Set the counter of a month to a number of calls."""
        row = QuotaRow(self.account.account_id, f"{kind}#{MONTH}")
        row.update(actions=[QuotaRow.used.set(count)])

    def used(self, kind: str) -> int:
        """Return the counter of the month."""
        return self.stores.quotas.used(self.account.account_id, kind, MONTH)

    def set_model(self, status: str, model_id: str = MODEL_ID) -> None:
        """Set the model's state as a training would; only a success has a version."""
        version = (
            ModelRow.version.set("r1-1") if status == "SUCCEEDED" else ModelRow.version.remove()
        )
        row = ModelRow(self.account.account_id, model_id)
        row.update(actions=[ModelRow.status.set(status), version])

    def set_dataset(self, status: str) -> None:
        """Set the dataset's state."""
        row = DatasetRow(f"{self.account.account_id}#language", DATASET_ID)
        row.update(actions=[DatasetRow.status.set(status)])

    def mood(self) -> str:
        """Train a model of type text-sentiment, and return its id."""
        rows = some_rows({"negative": 6, "positive": 6})
        view = self.dataset(rows, fields=UploadFields("mood", "text-sentiment"))
        return self.model(view, TrainRequest(epochs=3)).model_id

    def contents(self, prefix: str) -> list[bytes]:
        """Return the bytes of the objects whose keys have a prefix."""
        return [self.stores.artifacts.get(key) or b"" for key in self.objects(prefix)]

    def dataset_of(self, count: int) -> None:
        """Create another dataset with a number of examples."""
        self.dataset(some_rows({"many": count}))

    def sent(self) -> list[Any]:
        """Remove the waiting jobs from the queues and return them."""
        return [job for _, job in self.messages()]


@contextmanager
def prepare(folder: Path) -> Iterator[Prepared]:
    """Make the service and its data in an emulated AWS.

    Args:
        folder: an empty one, becomes that of the models.
    """
    tricks = Tricks()
    try:
        yield Prepared(Settings(token_secret=SECRET, text_profile="fast"), folder, tricks)
    finally:
        tricks.close()


def draw_id(patch: pytest.MonkeyPatch, text: str) -> None:
    """Make every generated id this one."""
    patch.setattr("secrets.token_bytes", lambda count: base64.b32decode(f"{text}======")[:count])


def raising(error: BaseException) -> Callable[..., Any]:
    """Return a function that fails."""

    def fail(*given: object, **named: object) -> Any:
        """Fail."""
        raise error

    return fail
