"""Address and credentials: from arguments, then the environment, then the login file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from presage._auth import Credentials, read_key
from presage.errors import ConfigurationError

# Default address of a local stack.
LOCAL = "http://127.0.0.1:8000"


@dataclass(frozen=True)
class Login:
    """The values that `presage login` saves; the key itself stays in its file."""

    url: str = LOCAL
    email: str = ""
    key_file: str = ""


def login_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the login file."""
    if named := environment.get("PRESAGE_LOGIN_FILE"):
        return Path(named)
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "presage" / "login.json"


def load_login(environment: Mapping[str, str] = os.environ) -> Login:
    """Read the login file; return defaults if it does not exist.

    Raises:
        ConfigurationError: the file is damaged.
    """
    path = login_file(environment)
    try:
        members = json.loads(path.read_text("utf-8"))
        return Login(**{name: str(members[name]) for name in ("url", "email", "key_file")})
    except FileNotFoundError:
        return Login()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error}): run `presage login` again."
        ) from error


def save_login(login: Login, environment: Mapping[str, str] = os.environ) -> Path:
    """Write the login file, readable only for its owner.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    path = login_file(environment)
    # Written aside and renamed, so that an interruption does not damage the file.
    draft = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(vars(login), stream, indent=1)
        os.chmod(draft, 0o600)
        draft.replace(path)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def checked_url(url: str) -> str:
    """Return the service's address without a trailing slash.

    The address of the API reference (`/v2/docs`) is accepted too, because people copy it from
    the browser.

    Raises:
        ConfigurationError: it is not a URL.
    """
    try:
        parts = urlsplit(url.strip())
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or any(sign.isspace() for sign in url.strip()):
        raise ConfigurationError(
            f"The address must start with http:// or https://, as in {LOCAL}; it is {url!r}."
        )
    return url.strip().rstrip("/").removesuffix("/docs").removesuffix("/v2")


def credentials(
    url: str | None, email: str | None, key: str | Path | None, token: str | None
) -> Credentials:
    """Check the arguments of a client, and return its credentials."""
    address = checked_url(url or LOCAL)
    if token:
        if not token.strip().isascii() or not token.strip().isprintable():
            raise ConfigurationError("The token contains invalid characters: pass the token only.")
        return Credentials(address, token=token.strip())
    if not key:
        return Credentials(address)
    if not email:
        raise ConfigurationError("A key needs the email address of its account: pass `email`.")
    return Credentials(address, email, read_key(key))


def credentials_from_env(environment: Mapping[str, str] = os.environ) -> Credentials:
    """Return credentials from the environment, then the login file."""
    login = load_login(environment)
    return credentials(
        environment.get("PRESAGE_URL") or login.url,
        environment.get("PRESAGE_EMAIL") or login.email,
        environment.get("PRESAGE_KEY_FILE") or login.key_file,
        environment.get("PRESAGE_TOKEN"),
    )
