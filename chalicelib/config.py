"""Settings of the service, read from the environment once and passed to the container.

No other module reads the environment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_AUDIENCE_HOSTS = ("api.einstein.ai", "api.metamind.io", "localhost", "127.0.0.1")
OCR_ENGINES = ("ppocr", "tesseract")
METRICS_MODES = ("off", "emf")
LOG_STREAMS = ("", "stderr", "stdout")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
TEXT_PROFILES = ("fast", "accurate")
# Each version takes about 333 bytes of the model's row, which DynamoDB limits to 400 KB.
MOST_KEPT_VERSIONS = 100
_ORIGIN = re.compile(r"\*|https?://[^/\s*]+")

_LIMITS = {
    "example_calls_per_month": "PRESAGE_EXAMPLE_CALLS",
    "browsed_per_day": "PRESAGE_BROWSED_EXAMPLES",
    "max_open_trainings": "PRESAGE_OPEN_TRAININGS",
    "max_running_trainings": "PRESAGE_RUNNING_TRAININGS",
    "max_open_uploads": "PRESAGE_OPEN_UPLOADS",
    "max_running_uploads": "PRESAGE_RUNNING_UPLOADS",
    "max_downloads": "PRESAGE_RUNNING_DOWNLOADS",
    "max_documents": "PRESAGE_RUNNING_DOCUMENTS",
    "max_stored_bytes": "PRESAGE_STORED_BYTES",
}
"""Environment variables with the limits of each account, by name of the setting."""


class SettingsError(ValueError):
    """Raised if environment variables are missing or unreadable; the message names all of them."""


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True)
class Settings:
    """All values that differ between a laptop, LocalStack and an AWS account."""

    name: str = "presage"
    """Prefix of the names of tables, queues and the bucket."""
    region: str = "us-east-1"
    """AWS region."""
    endpoint_url: str | None = None
    """Endpoint of an emulated AWS; None means real AWS."""
    public_storage_url: str | None = None
    """Scheme and host of presigned URLs, if callers reach the storage at another address."""
    bucket: str = "presage-data"
    """Name of the bucket with uploads and artifacts."""
    token_secret: str = ""
    """Key that signs access and refresh tokens; empty if it is in a secret store."""
    token_secret_name: str = ""
    """Name of the secret that holds the signing key, read when `token_secret` is empty."""
    audience_hosts: tuple[str, ...] = DEFAULT_AUDIENCE_HOSTS
    """Host names that may be in the audience of an assertion."""
    model_dir: str = ".models"
    """Folder with the installed encoders and prebuilt models."""
    models_from_bucket: str = ""
    """Key of the catalogue of model files in the bucket; empty if all files are installed."""
    loads: tuple[str, ...] = ()
    """Parts of engines that a deployed function loads when it starts, in order, such as `bge`."""
    allow_origins: tuple[str, ...] = ()
    """Web origins whose pages may read answers, such as `https://shop.example`; `*` for all."""
    download_allow: tuple[str, ...] = ()
    """Hosts, addresses or ranges that downloads may access although they are not public."""
    rate_factor: float = 1.0
    """Factor by which the rate limits of all plans are multiplied; 0 disables them."""
    example_calls_per_month: int = 30
    """Maximum number of calls per account and month that return examples."""
    browsed_per_day: int = 1_000_000
    """Maximum number of examples that an account may browse in a day."""
    max_open_trainings: int = 5
    """Maximum number of trainings per account that are QUEUED or RUNNING."""
    max_running_trainings: int = 3
    """Maximum number of trainings per account that workers run at the same time."""
    max_open_uploads: int = 20
    """Maximum number of unfinished uploads per account, including waiting ones."""
    max_running_uploads: int = 4
    """Maximum number of uploads per account that workers read at the same time."""
    max_downloads: int = 8
    """Maximum number of files that are downloaded for one account at the same time."""
    max_documents: int = 12
    """Maximum number of documents of one account that are read at the same time."""
    max_stored_bytes: int = 10 * 1024**3
    """Maximum number of bytes that an account may store."""
    batch_chains: int = 10
    """Number of parts of a batch that are queued or running at the same time.

    A value above the number of workers has no effect.
    """
    lease_seconds: float = 60.0
    """Seconds without a heartbeat after which a worker loses its job."""
    kept_versions: int = 10
    """Maximum number of stored versions of a model, exceeded only if more are in use."""
    max_attempts: int = 3
    """Number of failed attempts after which a job ends as FAILED."""
    sync_seconds: float = 25.0
    """Maximum seconds for a synchronous upload or for reading a document; 0 for no limit."""
    threads: int = 1
    """Number of threads that one call of an engine may use."""
    feature_bytes: int = 2 * 1024**3
    """Maximum bytes of image features in a training. Augmented images beyond this are left out."""
    feature_file_bytes: int = 8 * 1024**3
    """Maximum bytes of image features that a training caches in a temporary file."""
    ocr_engine: str = "ppocr"
    """Engine that reads text from images: `ppocr` or `tesseract`."""
    ocr_threads: int = 2
    """Number of pages of one document that are read at the same time."""
    text_profile: str = "accurate"
    """Profile of text trainings that name none: `fast`, or `accurate` where possible."""
    log_level: str = "INFO"
    """Lowest level to log; calls, jobs, predictions and metrics are always logged."""
    log_stream: str = ""
    """Stream of all log lines, `stderr` or `stdout`; empty for only warnings, on stderr."""
    metrics: str = "off"
    """Format in which log lines contain metrics: `emf` for CloudWatch, or `off`."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the settings from a mapping; raise SettingsError with all names of bad variables."""
        reader = _EnvironmentReader(environment)
        name = reader.text("PRESAGE_NAME", cls.name)
        settings = cls(
            name=name,
            region=reader.text("AWS_REGION", reader.text("AWS_DEFAULT_REGION", cls.region)),
            endpoint_url=environment.get("AWS_ENDPOINT_URL") or None,
            public_storage_url=environment.get("PRESAGE_PUBLIC_STORAGE_URL") or None,
            bucket=reader.text("PRESAGE_BUCKET", f"{name}-data"),
            token_secret=reader.text("PRESAGE_TOKEN_SECRET", ""),
            token_secret_name=reader.text("PRESAGE_TOKEN_SECRET_NAME", ""),
            audience_hosts=cls.audience_hosts + _list(reader.text("PRESAGE_AUDIENCE_HOSTS", "")),
            model_dir=reader.text("PRESAGE_MODEL_DIR", cls.model_dir),
            models_from_bucket=reader.text("PRESAGE_MODELS_FROM_BUCKET", ""),
            loads=_list(reader.text("PRESAGE_LOADS", "")),
            allow_origins=reader.origins("PRESAGE_ALLOW_ORIGINS"),
            download_allow=_list(reader.text("PRESAGE_DOWNLOAD_ALLOW", "")),
            rate_factor=reader.number("PRESAGE_RATE_FACTOR", cls.rate_factor),
            **{
                name: reader.integer(variable, getattr(cls, name))
                for name, variable in _LIMITS.items()
            },
            batch_chains=max(1, reader.integer("PRESAGE_BATCH_CHAINS", cls.batch_chains)),
            kept_versions=max(
                1, reader.integer("PRESAGE_KEPT_VERSIONS", cls.kept_versions, MOST_KEPT_VERSIONS)
            ),
            lease_seconds=reader.number("PRESAGE_LEASE_SECONDS", cls.lease_seconds),
            max_attempts=reader.integer("PRESAGE_MAX_ATTEMPTS", cls.max_attempts),
            sync_seconds=reader.number("PRESAGE_SYNC_SECONDS", cls.sync_seconds),
            threads=reader.integer("PRESAGE_THREADS", cls.threads),
            feature_bytes=reader.integer("PRESAGE_FEATURE_BYTES", cls.feature_bytes),
            feature_file_bytes=reader.integer("PRESAGE_FEATURE_FILE_BYTES", cls.feature_file_bytes),
            ocr_engine=reader.choice("PRESAGE_OCR_ENGINE", cls.ocr_engine, OCR_ENGINES),
            ocr_threads=reader.integer("PRESAGE_OCR_THREADS", cls.ocr_threads),
            text_profile=reader.choice("PRESAGE_TEXT_PROFILE", cls.text_profile, TEXT_PROFILES),
            log_level=reader.choice("PRESAGE_LOG_LEVEL", cls.log_level, LOG_LEVELS),
            log_stream=reader.choice("PRESAGE_LOG_STREAM", cls.log_stream, LOG_STREAMS),
            metrics=reader.choice("PRESAGE_METRICS", cls.metrics, METRICS_MODES),
        )
        reader.raise_problems()
        return settings


class _EnvironmentReader:
    """Reads environment variables, and collects the names of unreadable variables."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._problems: list[str] = []

    def text(self, name: str, default: str) -> str:
        """Return the value of a variable; `default` if the variable is missing or empty."""
        return self._environment.get(name) or default

    def origins(self, name: str) -> tuple[str, ...]:
        """Return the web origins in a variable: scheme, host and port, in lower case."""
        found = tuple(part.lower().removesuffix("/") for part in _list(self.text(name, "")))
        for wrong in (part for part in found if not _ORIGIN.fullmatch(part)):
            self._problems.append(
                f"{name} must be origins such as https://shop.example, or *, not {wrong!r}"
            )
        return found

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, default)
        if value not in choices:
            self._problems.append(f"{name} must be one of {', '.join(choices)}, not {value!r}")
            return default
        return value

    def integer(self, name: str, default: int, most: float = math.inf) -> int:
        return int(self.number(name, default, most))

    def number(self, name: str, default: float, most: float = math.inf) -> float:
        """Return the number in a variable, which must be finite and from 0 to `most`."""
        text = self._environment.get(name) or str(default)
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= most or value == math.inf:
            limit = "up" if most == math.inf else f"to {most}"
            self._problems.append(f"{name} must be a number from 0 {limit}, not {text!r}")
            return default
        return value

    def raise_problems(self) -> None:
        if self._problems:
            raise SettingsError("; ".join(self._problems))
