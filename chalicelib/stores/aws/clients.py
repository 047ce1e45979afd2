"""The AWS clients of one process. Each client is created at its first use."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import Any, ClassVar

from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from botocore.session import Session

from chalicelib import __version__
from chalicelib.config import Settings
from chalicelib.stores.aws import tables


class Clients:
    """Creates the AWS clients for the settings. Threads may share it."""

    # The service descriptions are slow to read, so all clients of a process share them.
    _descriptions: ClassVar[Any] = None

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = RLock()
        self._is_bound = False

    @cached_property
    def _session(self) -> Any:
        # One session for all clients, so that service descriptions are read once. A boto3 session
        # would add a sixth to a cold start, and nothing that is used here.
        made = Session()
        if Clients._descriptions is None:
            Clients._descriptions = made.get_component("data_loader")
        made.register_component("data_loader", Clients._descriptions)
        return made

    @cached_property
    def s3(self) -> Any:
        """Return the S3 client for calls of the service itself."""
        # Emulators and presigned URLs need SigV4 and path addressing.
        return self._client("s3", Config(signature_version="s3v4", s3={"addressing_style": "path"}))

    @cached_property
    def presigning_s3(self) -> Any:
        """Return the S3 client for presigned URLs. Callers can reach the host of these URLs."""
        url = self._settings.public_storage_url or self._settings.endpoint_url
        return self._client(
            "s3", Config(signature_version="s3v4", s3={"addressing_style": "path"}), url
        )

    @property
    def presigned_url(self) -> str:
        """Return scheme and host of presigned URLs."""
        return str(self.presigning_s3.meta.endpoint_url)

    @property
    def credentials(self) -> Any:
        """Return the current credentials; raise NoCredentialsError if none are configured."""
        found = self._session.get_credentials()
        if found is None:
            raise NoCredentialsError
        return found.get_frozen_credentials()

    @cached_property
    def sqs(self) -> Any:
        """Return the SQS client."""
        return self._client("sqs")

    @cached_property
    def secrets(self) -> Any:
        """Return the Secrets Manager client."""
        return self._client("secretsmanager")

    @cached_property
    def dynamodb(self) -> Any:
        """Return the DynamoDB client that retries throttled and failed calls."""
        return _skip_endpoint_rules(self._client("dynamodb", Config(parameter_validation=False)))

    @cached_property
    def dynamodb_once(self) -> Any:
        """Return the DynamoDB client that never retries."""
        once = Config(parameter_validation=False, retries={"total_max_attempts": 1})
        return _skip_endpoint_rules(self._client("dynamodb", once))

    def bind_tables(self) -> None:
        """Make the table classes use these clients. Later calls have no effect."""
        with self._lock:
            if not self._is_bound:
                tables.bind(self._settings, self.dynamodb, self.dynamodb_once)
                self._is_bound = True

    def reset(self) -> None:
        """Close all connections and drop the credentials. The next use creates new clients."""
        # Connections and credentials of a memory snapshot are invalid in the restored process.
        with self._lock:
            found = [vars(self).pop(name, None) for name in _CACHED]
            self._is_bound = False
        for client in found:
            if hasattr(client, "close"):
                client.close()

    def _client(self, service: str, config: Config | None = None, url: str | None = None) -> Any:
        """Create a client with the timeouts and retries that all clients of the service have."""
        common = Config(
            # With a fixed name, botocore does not build its long one twice per request.
            user_agent=f"presage/{__version__}",
            connect_timeout=3,
            read_timeout=10,
            max_pool_connections=64,
            retries={"mode": "standard", "total_max_attempts": 4},
        )
        # A botocore session cannot create two clients at the same time.
        with self._lock:
            return self._session.create_client(
                service,
                region_name=self._settings.region,
                endpoint_url=url or self._settings.endpoint_url,
                config=common if config is None else common.merge(config),
            )


def _skip_endpoint_rules(client: Any) -> Any:
    """Stop a DynamoDB client from evaluating endpoint rules for each call."""
    # Evaluating the rules is a twentieth of a read's work, and DynamoDB's depend on the region
    # alone.
    client._ruleset_resolver = None
    return client


_CACHED = [name for name, value in vars(Clients).items() if isinstance(value, cached_property)]
