"""AWS clients of one container, made when first used."""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import Any

from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from botocore.session import Session

from chalicelib import __version__
from chalicelib.config import Settings
from chalicelib.stores.aws import tables


class Clients:
    """DynamoDB, S3 and SQS clients for one set of settings; safe to share between threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = RLock()
        self._is_bound = False
        self._descriptions: Any = None
        """Of the services; read once, whatever is forgotten."""

    @cached_property
    def _session(self) -> Any:
        """One session for all clients, so that service descriptions are read once."""
        # boto3 would add a sixth to a cold start, and nothing that is used here.
        made = Session()
        if self._descriptions is None:
            self._descriptions = made.get_component("data_loader")
        made.register_component("data_loader", self._descriptions)
        return made

    @cached_property
    def s3(self) -> Any:
        """S3 client; SigV4 and path addressing, which emulators and presigned URLs need."""
        return self._client("s3", Config(signature_version="s3v4", s3={"addressing_style": "path"}))

    @cached_property
    def presigning_s3(self) -> Any:
        """S3 client whose presigned URLs name the host that callers reach."""
        url = self._settings.public_storage_url or self._settings.endpoint_url
        return self._client(
            "s3", Config(signature_version="s3v4", s3={"addressing_style": "path"}), url
        )

    @property
    def presigned_url(self) -> str:
        """Scheme and host of presigned URLs."""
        return str(self.presigning_s3.meta.endpoint_url)

    @property
    def credentials(self) -> Any:
        """The credentials of this moment.

        Raises:
            NoCredentialsError: there are none.
        """
        found = self._session.get_credentials()
        if found is None:
            raise NoCredentialsError
        return found.get_frozen_credentials()

    @cached_property
    def sqs(self) -> Any:
        """SQS client."""
        return self._client("sqs")

    @cached_property
    def secrets(self) -> Any:
        """Secrets Manager client."""
        return self._client("secretsmanager")

    @cached_property
    def dynamodb(self) -> Any:
        """DynamoDB client that repeats throttled and failed calls."""
        return _at_one_place(self._client("dynamodb", Config(parameter_validation=False)))

    @cached_property
    def dynamodb_once(self) -> Any:
        """DynamoDB client that never repeats a call."""
        once = Config(parameter_validation=False, retries={"total_max_attempts": 1})
        return _at_one_place(self._client("dynamodb", once))

    def bind_tables(self) -> None:
        """Bind the table rows to these clients, once."""
        with self._lock:
            if not self._is_bound:
                tables.bind(self._settings, self.dynamodb, self.dynamodb_once)
                self._is_bound = True

    def reset(self) -> None:
        """Close every connection and forget the credentials; the next use makes all anew."""
        with self._lock:
            found = [vars(self).pop(name, None) for name in _CACHED]
            self._is_bound = False
        for client in found:
            if hasattr(client, "close"):
                client.close()

    def _client(self, service: str, config: Config | None = None, url: str | None = None) -> Any:
        """Make a client with the service's timeouts and retries."""
        common = Config(
            # A name of our own: botocore makes its long one anew for each request, twice.
            user_agent=f"presage/{__version__}",
            connect_timeout=3,
            read_timeout=10,
            max_pool_connections=64,
            retries={"mode": "standard", "total_max_attempts": 4},
        )
        # Sessions may not make two clients at the same time.
        with self._lock:
            return self._session.create_client(
                service,
                region_name=self._settings.region,
                endpoint_url=url or self._settings.endpoint_url,
                config=common if config is None else common.merge(config),
            )


def _at_one_place(client: Any) -> Any:
    """Let a client of tables send all calls to the address that it was made with.

    botocore goes through the rules of addresses anew for each call. Those of tables depend on
    nothing but the region, and take a twentieth of a read's work.
    """
    client._ruleset_resolver = None
    return client


_CACHED = [name for name, kept in vars(Clients).items() if isinstance(kept, cached_property)]
