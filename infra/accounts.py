"""The administrator's command for accounts: create, list, plan, keys, close, token, export, audit.

By default, the command works on the running local stack, or on the endpoint AWS_ENDPOINT_URL if it
is set. With --stage, it works on a deployed stage; with --aws, on the AWS account of the user.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from chalicelib.commands import administrator_command, run_command
from chalicelib.config import Settings, SettingsError
from chalicelib.domain.accounts.account import ACTIVE, PLANS, Account
from chalicelib.domain.accounts.api_key import ALL, PREDICT, ApiKey
from chalicelib.domain.common.clock import system_clock
from chalicelib.errors import ServiceError
from chalicelib.formats.tokens.rsa_key import (
    InvalidKey,
    checked_public_pem,
    fingerprint,
    public_pem_of,
)
from chalicelib.services.accounts.accounts import (
    DEFAULT_KEEP_DAYS,
    DEFAULT_PLAN,
    DEFAULT_SOURCE,
    AccountService,
)
from chalicelib.services.accounts.api_keys import ApiKeyService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from chalicelib.stores.accounts.refresh_tokens import RefreshTokenStore
from chalicelib.stores.aws.clients import Clients
from chalicelib.stores.aws.objects import ArtifactStore
from chalicelib.stores.fetching.page_images import PageImageStore
from infra.local.client import CallFailed, Service
from infra.target import CommandError, CommandTarget, add_options, chosen_target, explained_causes

# Host in the audience of assertions; every deployment accepts it, whatever its own host is.
PUBLIC_AUDIENCE = "https://api.einstein.ai/v2/oauth2/token"
GRANT_TYPE = "urn:ietf:params:oauth:grant-type:jwt-bearer"
# Path that exchanges an assertion for an access token.
TOKEN_PATH = "/v2/oauth2/token"  # noqa: S105 - a path
_DONE, _REFUSED = 0, 1


class NoToken(CommandError):
    """The service refused to issue an access token, or did not answer."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status
        """Status of a refusal; 0 when there was no answer."""


def create_account(
    settings: Settings,
    email: str,
    key_file: Path,
    plan: str = DEFAULT_PLAN,
    source: str = DEFAULT_SOURCE,
) -> Account:
    """Create an account, and write its private key to a new file that only the user can read.

    Raises:
        CommandError: the key file exists or cannot be written.
        ServiceError: the service refused to create the account.
    """
    with _new_key_file(key_file) as write:
        made = _service(settings).create(email, plan, source)
        write(made.private_pem or "")
    return made.account


def ensure_account(
    settings: Settings,
    email: str,
    key_file: Path,
    plan: str = DEFAULT_PLAN,
) -> Account:
    """Ensure that an account exists, and that `key_file` has a private key of the account.

    If the file exists, its key becomes the account's key. Otherwise a new key is created and
    written, and the account's former key becomes invalid. The call may be repeated.

    Raises:
        CommandError: the file cannot be read or written.
        ServiceError: the account is closed, or the service refused to create it.
    """
    service = _service(settings)
    account = service.find(email)
    if not key_file.exists() or not key_file.stat().st_size:
        key_file.unlink(missing_ok=True)  # an interrupted start leaves an empty file
        if account is None:
            return create_account(settings, email, key_file, plan)
        return _reset_key(settings, email, key_file)
    public_pem = _public_pem(key_file)
    if account is None:
        return service.create(email, plan, public_pem=public_pem).account
    is_current = account.keys and account.keys[-1].public_pem == public_pem
    if account.status == ACTIVE and is_current:
        return account
    return service.reset_key(email, public_pem=public_pem).account


def request_token(url: str, email: str, key_file: Path, minutes: float = 60) -> str:
    """Obtain an access token from a running service.

    Raises:
        CommandError: the key file cannot be used.
        NoToken: the service refused or did not answer.
    """
    import jwt  # loads cryptography, which only this command needs

    _public_pem(key_file)
    url = url.rstrip("/")
    claims = {
        "sub": email,
        "aud": [url + TOKEN_PATH, PUBLIC_AUDIENCE],
        "exp": int(time.time() + minutes * 60),
    }
    assertion = jwt.encode(claims, key_file.read_text("ascii"), algorithm="RS256")
    return _ask_token(url, assertion)


def main(
    arguments: Sequence[str] | None = None, environment: MutableMapping[str, str] = os.environ
) -> int:
    """Run the command; errors are printed in one line."""
    options = _parser().parse_args(arguments)
    try:
        target = chosen_target(environment, options, needs_data=options.run is not _token)
        with explained_causes(target):
            result = options.run(target, options)
    except (CommandError, ServiceError, SettingsError) as error:
        print(f"infra.accounts: {error}", file=sys.stderr)
        return _REFUSED
    return _REFUSED if result is False else _DONE


def _service(settings: Settings) -> AccountService:
    clients = Clients(settings)
    tokens, keys = RefreshTokenStore(clients), ApiKeyStore(clients)
    images = PageImageStore(clients, ArtifactStore(settings, clients), system_clock)
    return AccountService(AccountStore(clients), tokens, keys, system_clock, images)


def _reset_key(
    settings: Settings, email: str, key_file: Path, overlap_seconds: float = 0
) -> Account:
    with _new_key_file(key_file) as write:
        changed = _service(settings).reset_key(email, overlap_seconds)
        write(changed.private_pem or "")
    return changed.account


@contextmanager
def _new_key_file(path: Path) -> Iterator[Callable[[str], object]]:
    """Create a key file that only its owner can read, and yield the function that writes the key.

    The file is created before the account is changed. It is removed if the `with` block fails.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise CommandError(
            f"{path} exists and is never overwritten; name another file or move it away"
        ) from error
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        try:
            yield file.write
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _public_pem(key_file: Path) -> str:
    return _read_key(key_file, public_pem_of)


def _read_key(key_file: Path, read: Callable[[str], str]) -> str:
    try:
        return read(key_file.read_text("ascii"))
    except OSError as error:
        raise CommandError(f"{key_file} cannot be read: {error.strerror}") from error
    except (InvalidKey, UnicodeDecodeError) as error:
        reason = error if isinstance(error, InvalidKey) else "it is not a PEM file"
        raise CommandError(f"{key_file} cannot be used: {reason}") from error


def _ask_token(url: str, assertion: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise CommandError(f"PRESAGE_URL must begin with http:// or https://, not {url!r}")
    fields = {"grant_type": GRANT_TYPE, "assertion": assertion}
    try:
        return str(Service(url).post_words(TOKEN_PATH, fields)["access_token"])
    except CallFailed as error:
        remedy = (
            "compare the e-mail address with the key file, and this machine's clock with the "
            "service's"
            if error.status
            else f"start the service with `{run_command()}`, or set PRESAGE_URL to where it listens"
        )
        raise NoToken(f"{error}; {remedy}", error.status) from error


def _create(target: CommandTarget, options: argparse.Namespace) -> None:
    if options.public_key is not None:
        public_pem = _read_key(options.public_key, checked_public_pem)
        service = _service(target.settings)
        account = service.create(options.email, options.plan, options.source, public_pem).account
        print(f"created account {account.account_id} {account.email}; {_shown(public_pem)}")
        return
    account = create_account(
        target.settings, options.email, options.key_file, options.plan, options.source
    )
    print(f"created account {account.account_id} {account.email}; its key is {options.key_file}")


def _list(target: CommandTarget, options: argparse.Namespace) -> None:
    accounts = _service(target.settings).list_all()
    print(f"{'id':>6}  {'status':7}{'plan':16}{'source':11}{'created':11}e-mail")
    for account in accounts:
        until = "" if account.delete_after is None else f" until {account.delete_after:%Y-%m-%d}"
        print(
            f"{account.account_id:>6}  {account.status:7}{account.plan:16}{account.source:11}"
            f"{account.created_at:%Y-%m-%d} {account.email}{until}"
        )


def _plan(target: CommandTarget, options: argparse.Namespace) -> None:
    account = _service(target.settings).change_plan(options.email, options.plan, options.source)
    print(f"{account.email} has {account.plan} of {account.source}")


def _examples(target: CommandTarget, options: argparse.Namespace) -> None:
    account = _service(target.settings).set_example_calls(options.email, options.calls)
    print(f"{account.email} has {account.example_calls_per_month} example calls a month")


def _export(target: CommandTarget, options: argparse.Namespace) -> None:
    from chalicelib.container import Container
    from infra.backups.account_export import ExportIncomplete, FolderNotEmpty, export_account

    account = _service(target.settings).find(options.email)
    if account is None:
        raise CommandError(f"account {options.email} does not exist")
    try:
        export_account(Container(target.settings), account, options.folder, _say)
    except (ExportIncomplete, FolderNotEmpty, OSError) as error:
        raise CommandError(str(error)) from error
    print(f"exported {account.email} into {options.folder}")


def _audit(target: CommandTarget, options: argparse.Namespace) -> bool:
    """Compare the counters of predictions with log lines; return whether they agree."""
    from chalicelib.stores.accounts.quotas import QuotaStore
    from chalicelib.stores.jobs.queues import Queues
    from infra.auditing.command import Audit, compare
    from infra.auditing.log_lines import LogGroup
    from infra.auditing.report import parse_month

    service = _service(target.settings)
    if options.email is None:
        accounts = tuple(service.list_all())
    elif (account := service.find(options.email)) is not None:
        accounts = (account,)
    else:
        raise CommandError(f"account {options.email} does not exist")
    now = system_clock()
    log = options.log or (LogGroup(target.settings) if options.aws else target.logs)
    audit = Audit(parse_month(options.month, now), now, log, options.tolerance)
    clients = Clients(target.settings)
    quotas = QuotaStore(clients, Queues(target.settings, clients))
    lines, agrees = compare(audit, accounts, quotas, is_complete=options.email is None)
    print("\n".join(lines))
    return agrees


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _shown(public_pem: str) -> str:
    """Return the fingerprint of a public key, so that two people can compare keys."""
    return f"the SHA-256 of its key is {fingerprint(public_pem)}"


def _reset(target: CommandTarget, options: argparse.Namespace) -> None:
    ends = f"ends in {options.overlap:g} seconds" if options.overlap else "is dead"
    if options.public_key is not None:
        public_pem = _read_key(options.public_key, checked_public_pem)
        service = _service(target.settings)
        account = service.reset_key(options.email, options.overlap, public_pem).account
        print(f"{account.email} has a new key; the former one {ends}; {_shown(public_pem)}")
    else:
        account = _reset_key(target.settings, options.email, options.key_file, options.overlap)
        print(f"{account.email} has a new key in {options.key_file}; the former one {ends}")
    if options.revoke_keys:
        _service(target.settings).revoke_keys(options.email)
        print("all of its API keys are revoked")


def _keys(target: CommandTarget, options: argparse.Namespace) -> None:
    """List, create or delete the API keys of an account."""
    account = _service(target.settings).find(options.email)
    if account is None or account.status != ACTIVE:
        raise CommandError(f"there is no active account {options.email}")
    clients = Clients(target.settings)
    keys = ApiKeyService(AccountStore(clients), ApiKeyStore(clients), system_clock)
    if options.action == "list":
        print(f"{'id':28}{'begins':10}{'scope':9}{'created':12}{'expires':12}{'last used':12}name")
        for key in keys.of_account(account):
            print(_key_line(key))
    elif options.name is None:
        raise CommandError("name the new key, or give the id of the one to delete")
    elif options.action == "delete":
        keys.revoke(keys.get(account, options.name))
        print(f"revoked; running processes of {target.settings.name} refuse it at once")
    else:
        _create_api_key(keys, account, options)


def _create_api_key(keys: ApiKeyService, account: Account, options: argparse.Namespace) -> None:
    """Create an API key, and write it to a new file or print it."""
    asked = (account, options.name, options.scope, options.expires)
    if options.api_key_file is None:
        print(keys.create(*asked)[1])
        return
    with _new_key_file(options.api_key_file) as write:
        key, secret = keys.create(*asked)
        write(f"{secret}\n")
    print(f"created API key {key.key_id} of {account.email}; it is in {options.api_key_file}")


def _key_line(key: ApiKey) -> str:
    dates = (key.created_at, key.expires_at, key.last_used_at)
    shown = "".join(f"{'-' if one is None else f'{one:%Y-%m-%d}':12}" for one in dates)
    return f"{key.key_id:28}{key.prefix:10}{key.scope:9}{shown}{key.name}"


def _close(target: CommandTarget, options: argparse.Namespace) -> None:
    account = _service(target.settings).close(options.email, options.keep)
    print(f"closed {account.email}; its data is deleted after {account.delete_after:%Y-%m-%d}")


def _token(target: CommandTarget, options: argparse.Namespace) -> None:
    print(request_token(target.url, options.email, options.key_file, options.minutes))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=administrator_command("accounts"), description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    shared = argparse.ArgumentParser(add_help=False)
    add_options(shared)
    one = argparse.ArgumentParser(add_help=False, parents=[shared])
    one.add_argument("email", metavar="EMAIL", help="the account's address")
    keyed = argparse.ArgumentParser(add_help=False, parents=[one])
    keyed.add_argument("--key-file", metavar="FILE", type=Path, required=True, help="private key")
    either = _either_key(one)

    def command(name: str, run: object, text: str, base: argparse.ArgumentParser) -> _Command:
        """Add one subcommand to the parser, and return the subcommand's parser."""
        added = commands.add_parser(name, help=text, description=text, parents=[base])
        added.set_defaults(run=run)
        return added

    _add_plan(command("create", _create, "create an account and its key", either))
    command("list", _list, "list all accounts", shared)
    plan = command("plan", _plan, "change an account's plan", one)
    plan.add_argument("plan", metavar="NAME", help="name of the plan")
    plan.add_argument("--source", choices=list(PLANS), help="plan family")
    calls = command("examples", _examples, "set an account's monthly example calls", one)
    calls.add_argument("calls", metavar="CALLS", type=int, help="calls a month")
    export = command("export", _export, "write all datasets and models of an account", one)
    export.add_argument("folder", metavar="DIR", type=Path, help="new folder")
    _add_reset(command("reset-key", _reset, "give an account a new key", either))
    _add_keys(command("keys", _keys, "list, create or delete API keys of an account", shared))
    close = command("close", _close, "close an account; its tokens stop at once", one)
    close.add_argument("--keep", metavar="DAYS", type=float, default=DEFAULT_KEEP_DAYS)
    _add_audit(command("audit", _audit, "compare counters with the log's prediction lines", shared))
    token = command("token", _token, "print an access token", keyed)
    token.add_argument("--minutes", metavar="N", type=float, default=60, help="minutes it is valid")
    return parser


_Command = argparse.ArgumentParser


def _either_key(base: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return a parser that adds to `base` the options for a new key file or a public key."""
    parser = argparse.ArgumentParser(add_help=False, parents=[base])
    key = parser.add_mutually_exclusive_group(required=True)
    key.add_argument("--key-file", metavar="FILE", type=Path, help="where to write a new key")
    key.add_argument("--public-key", metavar="FILE", type=Path, help="a public key or certificate")
    return parser


def _add_reset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--overlap", metavar="SECONDS", type=float, default=0, help="time that old keys still work"
    )
    parser.add_argument("--revoke-keys", action="store_true", help="revoke its API keys too")


def _add_keys(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "create", "delete"))
    parser.add_argument("email", metavar="EMAIL", help="the account's address")
    parser.add_argument("name", metavar="NAME", nargs="?", help="name of a new key, or an id")
    parser.add_argument("--scope", choices=(ALL, PREDICT), default=ALL, help="what it may do")
    parser.add_argument("--expires", metavar="DATE", help="when a new key expires: ISO 8601")
    parser.add_argument(
        "--api-key-file", metavar="FILE", type=Path, help="where to write a new key; else printed"
    )


def _add_audit(parser: argparse.ArgumentParser) -> None:
    from infra.auditing.report import TOLERANCE

    parser.add_argument("email", metavar="EMAIL", nargs="?", help="one account; otherwise all")
    parser.add_argument("--month", metavar="YYYY-MM", help="the month; otherwise the present one")
    parser.add_argument(
        "--log", metavar="FILE", type=Path, help="file or folder of lines; otherwise the stack's"
    )
    parser.add_argument(
        "--tolerance", metavar="N", type=int, default=TOLERANCE, help="largest accepted difference"
    )


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", metavar="NAME", default=DEFAULT_PLAN, help="name of the plan")
    parser.add_argument("--source", choices=list(PLANS), default=DEFAULT_SOURCE, help="its family")


if __name__ == "__main__":
    sys.exit(main())
