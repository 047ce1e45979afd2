"""Finds address and credentials: in arguments, else the environment, else the login file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from presage._api_keys import find_api_key, is_api_key
from presage._auth import Credentials, read_key
from presage.errors import ConfigurationError

# Default address of a local stack.
LOCAL = "http://127.0.0.1:8000"


def local_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of the local stack, on the port of `PRESAGE_PORT` if it is set."""
    port = environment.get("PRESAGE_PORT")
    return f"http://127.0.0.1:{port}" if port else LOCAL


# Member of the login file that holds named logins next to the default one.
_PROFILES = "profiles"


@dataclass(frozen=True)
class Login:
    """The values that `presage login` saves: addresses and paths of key files, but no keys."""

    url: str = LOCAL
    email: str = ""
    key_file: str = ""
    api_key_file: str = ""

    def members(self) -> dict[str, str]:
        """Return the values for the login file, in a form that earlier versions can also read."""
        found = {name.name: str(getattr(self, name.name)) for name in fields(self)}
        if not self.api_key_file:
            del found["api_key_file"]
        return found


def login_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the login file."""
    if named := environment.get("PRESAGE_LOGIN_FILE"):
        return Path(named)
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "presage" / "login.json"


def load_login(environment: Mapping[str, str] = os.environ, profile: str | None = None) -> Login:
    """Read a login from the login file; if no default login was saved, one without an account.

    Args:
        environment: environment variables; `PRESAGE_PROFILE` is used if `profile` is None.
        profile: name of the login; None: the default login.

    Raises:
        ConfigurationError: the file is damaged, or there is no such profile.
    """
    path = login_file(environment)
    try:
        found = _load_file(path)
        name = profile or environment.get("PRESAGE_PROFILE")
        if name:
            profiles = found.get(_PROFILES, {})
            if name not in profiles:
                raise ConfigurationError(_unknown_profile(name, path, profiles))
            found = profiles[name]
        elif not found.keys() - {_PROFILES}:
            return Login(local_url(environment))
        required = {name: str(found[name]) for name in ("url", "email", "key_file")}
        return Login(**required, api_key_file=str(found.get("api_key_file", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(
            f"{path} cannot be read ({error}): run `presage login` again."
        ) from error


def save_login(
    login: Login | None, environment: Mapping[str, str] = os.environ, profile: str | None = None
) -> Path:
    """Write a login to the login file, which only its owner can read.

    Args:
        login: values to save; None removes the login.
        environment: environment variables; `PRESAGE_PROFILE` is used if `profile` is None.
        profile: name of the login; None: the default login.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    path, name = login_file(environment), profile or environment.get("PRESAGE_PROFILE")
    try:
        found = _load_file(path)
        profiles: dict[str, Any] = dict(found.pop(_PROFILES, {}))
    except (OSError, ValueError, TypeError, AttributeError):
        found, profiles = {}, {}  # a damaged file is replaced
    members = {} if login is None else login.members()
    if name:
        profiles.pop(name, None)
        profiles |= {name: members} if members else {}
    else:
        found = members
    whole = {**found, _PROFILES: profiles} if profiles else found
    try:
        _write_file(path, whole)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def _load_file(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    if not isinstance(found, dict):
        raise TypeError("it is not a JSON object")
    return found


def _write_file(path: Path, members: dict[str, Any]) -> None:
    """Write `members` to the login file; delete the file if there are no members."""
    if not members:
        path.unlink(missing_ok=True)
        return
    # Written aside and renamed, so that an interruption does not damage the file.
    draft = path.with_suffix(".new")
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(members, stream, indent=1)
    os.chmod(draft, 0o600)
    draft.replace(path)


def _unknown_profile(name: str, path: Path, profiles: Mapping[str, Any]) -> str:
    known = f"its profiles are {', '.join(sorted(profiles))}" if profiles else "it has none"
    return (
        f"{path} has no profile {name!r}; {known}. Create it by `presage --profile {name} login`."
    )


def checked_url(url: str) -> str:
    """Return the service's address without a trailing slash.

    The address of the API reference (`/v2/docs`) is also accepted, because people copy it from the
    browser.

    Raises:
        ConfigurationError: the address is not a URL.
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
    url: str | None,
    email: str | None,
    key: str | Path | None,
    token: str | None,
    api_key: str | None = None,
) -> Credentials:
    """Check the arguments of a client, and return the credentials of the client."""
    address = checked_url(url or LOCAL)
    if api_key is not None:
        if key or token:
            raise ConfigurationError("Pass one of `api_key`, `token`, and `key` with `email`.")
        return Credentials(address, token=checked_api_key(api_key))
    if token:
        if not token.strip().isascii() or not token.strip().isprintable():
            raise ConfigurationError("The token contains invalid characters: pass the token only.")
        return Credentials(address, token=token.strip())
    if not key:
        return Credentials(address)
    if is_api_key(str(key)):
        raise ConfigurationError("Pass an API key as `api_key`; `key` is the private key.")
    if not email:
        raise ConfigurationError("A key needs the email address of its account: pass `email`.")
    return Credentials(address, email, read_key(key))


def checked_api_key(api_key: str) -> str:
    """Return an API key without surrounding white space.

    Raises:
        ConfigurationError: the text does not have the form of a key. The message does not show the
            text.
    """
    if not is_api_key(api_key):
        raise ConfigurationError(
            "The API key is not valid: it has 46 characters and begins with pk_. Pass the "
            "`secret` that was shown when the key was created."
        )
    return api_key.strip()


def read_api_key(path: str | Path) -> str:
    """Return the API key that a file contains.

    Raises:
        ConfigurationError: the file cannot be read, or does not contain an API key.
    """
    try:
        found = find_api_key(path)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or "its name is not valid"
        raise ConfigurationError(f"The API key file {path} cannot be read: {cause}.") from error
    if found is None:
        raise ConfigurationError(
            f"{path} holds no API key: it must be one line that begins with pk_."
        )
    return found


def credentials_from_env(
    environment: Mapping[str, str] = os.environ, profile: str | None = None
) -> Credentials:
    """Return credentials from the environment; take missing values from the login file.

    Args:
        environment: the environment variables.
        profile: name of a login in the login file. If it is given, the variables are ignored.
    """
    login = load_login(environment, profile)
    given = {} if profile else environment
    url = given.get("PRESAGE_URL") or login.url
    token, key_file = given.get("PRESAGE_TOKEN"), given.get("PRESAGE_KEY_FILE")
    if token:
        return credentials(url, None, None, token)
    api_key = given.get("PRESAGE_API_KEY")
    api_key_file = given.get("PRESAGE_API_KEY_FILE")
    # The key of a login is sent only to the service of that login.
    if not key_file and login.api_key_file and checked_url(url) == checked_url(login.url):
        api_key_file = api_key_file or login.api_key_file
    if api_key or api_key_file:
        return credentials(url, None, None, None, api_key or read_api_key(api_key_file or ""))
    email = given.get("PRESAGE_EMAIL") or login.email
    return credentials(url, email, key_file or login.key_file, None)
