"""The administrator's command: files, lines and exit codes, on the emulated AWS."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import jwt
import pytest

from chalicelib.domain.common.clock import system_clock
from chalicelib.formats.tokens.rsa_key import public_pem_of
from chalicelib.services.accounts.api_keys import ApiKeyService
from chalicelib.stores.accounts.accounts import AccountStore
from chalicelib.stores.accounts.api_keys import ApiKeyStore
from infra.accounts import create_account, ensure_account, main
from infra.local.state import State
from infra.target import CommandError

EMAIL = "ann@example.com"


@pytest.fixture
def store(clients) -> AccountStore:
    """The accounts that the command changes."""
    return AccountStore(clients)


@pytest.fixture
def run(store, tmp_path, capsys):
    """Run the command on the emulated AWS; returns exit code, output and errors."""

    def call(*arguments, **environment):
        """Run it once."""
        variables = {"PRESAGE_STATE_DIR": str(tmp_path / "state"), **environment}
        code = main([arguments[0], "--aws", *map(str, arguments[1:])], variables)
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def key_file(tmp_path):
    """A place for a key."""
    return tmp_path / "ann.pem"


def test_create_writes_a_key_that_only_its_owner_reads(run, store, key_file):
    """The account exists, and the file holds the private half of its key, mode 600."""
    code, out, err = run("create", EMAIL, "--plan", "GOLD", "--key-file", key_file)

    assert (code, err) == (0, "")
    assert out.count("\n") == 1
    account = store.find_by_email(EMAIL)
    assert account.plan == "GOLD"
    assert public_pem_of(key_file.read_text()) == account.keys[-1].public_pem
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600


def test_create_never_overwrites(run, store, key_file):
    """An existing file or link is not overwritten, and no account is created."""
    key_file.write_text("mine")
    link = key_file.with_name("link.pem")
    link.symlink_to(key_file.with_name("nowhere.pem"))

    for path in (key_file, link):
        code, out, err = run("create", EMAIL, "--key-file", path)
        assert (code, out) == (1, "")
        assert "never overwritten" in err
        assert err.count("\n") == 1

    assert key_file.read_text() == "mine"
    assert store.list_all() == ()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("create", "ann", "--key-file", "KEY"), "name@example.com"),
        (("create", EMAIL, "--plan", "PLATINUM", "--key-file", "KEY"), "STARTER, BRONZE"),
        (("create", EMAIL, "--key-file", "MISSING/x.pem"), "cannot be written"),
        (("plan", EMAIL, "GOLD"), "no active account"),
        (("examples", EMAIL, "5"), "no active account"),
        (("reset-key", EMAIL, "--key-file", "KEY"), "no active account"),
        (("close", EMAIL), "no active account"),
        (("token", EMAIL, "--key-file", "KEY"), "cannot be read"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_refusals_are_one_line_and_leave_nothing(run, store, key_file, arguments, text):
    """An error is one line with status 1, and leaves neither file nor account."""
    places = {"KEY": key_file, "MISSING/x.pem": key_file.parent / "missing" / "x.pem"}

    code, out, err = run(*(places.get(argument, argument) for argument in arguments))

    assert (code, out) == (1, "")
    assert text in err
    assert err.count("\n") == 1
    assert not key_file.exists()
    assert store.list_all() == ()


def test_account_takes_a_key_that_the_client_has(run, store, key_file, private_pem):
    """--public-key creates or re-keys without a private key; the fingerprint is OpenSSL's."""
    public_pem = public_pem_of(private_pem)
    key_file.write_text(public_pem)
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-outform", "DER"],
        input=public_pem.encode(),
        capture_output=True,
        check=True,
    ).stdout

    code, out, err = run("create", EMAIL, "--public-key", key_file)

    assert (code, err) == (0, "")
    assert hashlib.sha256(der).hexdigest() in out
    assert [key.public_pem for key in store.find_by_email(EMAIL).keys] == [public_pem]
    code, out, _ = run("reset-key", EMAIL, "--public-key", key_file, "--overlap", 60)
    assert (code, hashlib.sha256(der).hexdigest() in out) == (0, True)
    assert [key.public_pem for key in store.find_by_email(EMAIL).keys] == [public_pem] * 2


def test_private_key_file_is_not_a_public_key(run, store, key_file, private_pem):
    """A private key that is given as the public one is refused in one line."""
    key_file.write_text(private_pem)

    code, out, err = run("create", EMAIL, "--public-key", key_file)

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "private key" in err
    assert store.list_all() == ()


def test_an_account_from_first_to_last(run, store, key_file):
    """Plan, own limit, key and end of an account are changed by one command each."""
    run("create", EMAIL, "--key-file", key_file)
    first = store.find_by_email(EMAIL)
    new_file = key_file.with_name("new.pem")

    assert run("plan", EMAIL, "GOLD")[1] == "ann@example.com has GOLD of HEROKU\n"
    assert run("examples", EMAIL, 500)[0] == 0
    assert run("reset-key", EMAIL, "--overlap", 60, "--key-file", new_file)[0] == 0
    changed = store.find_by_email(EMAIL)
    assert (changed.plan, changed.example_calls_per_month) == ("GOLD", 500)
    assert len(changed.keys) == 2
    assert changed.keys[-1].public_pem == public_pem_of(new_file.read_text())
    assert changed.keys[-1].public_pem != first.keys[-1].public_pem

    assert run("close", EMAIL, "--keep", 7)[0] == 0
    listed = run("list")[1].splitlines()
    assert len(listed) == 2
    assert listed[1].split()[:4] == ["1", "CLOSED", "GOLD", "HEROKU"]
    assert EMAIL in listed[1]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["sell"],
        ["create", EMAIL],
        ["plan", EMAIL],
        ["create", EMAIL, "--key-file", "a", "--public-key", "b"],
    ],
)
def test_wrong_usage_exits_with_2(arguments, capsys):
    """A command that is not understood shows its usage."""
    with pytest.raises(SystemExit) as ended:
        main(arguments, {})

    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_without_a_stack_nothing_is_touched(tmp_path, capsys):
    """Without a stack, an endpoint or --aws the command refuses to run."""
    assert main(["list"], {"PRESAGE_STATE_DIR": str(tmp_path)}) == 1

    err = capsys.readouterr().err
    assert "make run" in err
    assert "--aws" in err


@pytest.fixture
def stack_process():
    """A process that looks like a running stack."""
    command = [sys.executable, "-c", "import time; time.sleep(60)", "infra.local"]
    with subprocess.Popen(command) as process:
        while b"infra.local" not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            time.sleep(0.01)  # the child has not become the command yet
        yield process
        process.kill()


def test_running_stack_is_found(store, stack_process, tmp_path, capsys):
    """The running stack's description in its state folder gives endpoint and names."""
    State(tmp_path).write_stack(
        {
            "pid": stack_process.pid,
            "url": "http://127.0.0.1:1",
            "environment": {"PRESAGE_NAME": "x"},
        }
    )
    environment = {"PRESAGE_STATE_DIR": str(tmp_path)}

    assert main(["list"], environment) == 1

    assert "the table or bucket does not exist" in capsys.readouterr().err
    assert environment["PRESAGE_NAME"] == "x"
    assert environment["AWS_ACCESS_KEY_ID"] == "presage"


def test_unreadable_settings_are_one_line(run):
    """An unreadable variable is named in one line."""
    code, _, err = run("list", PRESAGE_OPEN_TRAININGS="many")

    assert code == 1
    assert err.startswith("infra.accounts: PRESAGE_OPEN_TRAININGS must be")


def test_ensure_account_may_be_repeated(settings, store, key_file):
    """A second start keeps account and key; a missing key file gets a new key."""
    made = ensure_account(settings, EMAIL, key_file)
    first_key = key_file.read_text()

    assert ensure_account(settings, EMAIL, key_file) == made
    assert key_file.read_text() == first_key

    key_file.unlink()
    changed = ensure_account(settings, EMAIL, key_file)
    assert changed.account_id == made.account_id
    assert [key.public_pem for key in changed.keys] == [public_pem_of(key_file.read_text())]


def test_ensure_account_takes_the_key_that_is_there(
    settings, store, key_file, private_pem, other_private_pem
):
    """If the key file exists, the new or existing account uses its key."""
    key_file.write_text(private_pem)
    made = ensure_account(settings, EMAIL, key_file)
    key_file.write_text(other_private_pem)
    changed = ensure_account(settings, EMAIL, key_file)

    assert made.keys[-1].public_pem == public_pem_of(private_pem)
    assert [key.public_pem for key in changed.keys] == [public_pem_of(other_private_pem)]
    assert key_file.read_text() == other_private_pem


def test_ensure_account_replaces_an_empty_file_but_no_other(settings, store, key_file):
    """An empty key file is replaced, any other file is not."""
    key_file.touch()
    ensure_account(settings, EMAIL, key_file)
    assert public_pem_of(key_file.read_text())

    key_file.write_text("a letter")
    with pytest.raises(CommandError, match="cannot be used"):
        ensure_account(settings, EMAIL, key_file)
    assert key_file.read_text() == "a letter"


def test_create_account_removes_its_file_when_refused(settings, store, key_file, tmp_path):
    """A refused second account leaves no key file."""
    create_account(settings, EMAIL, key_file)

    with pytest.raises(Exception, match="has an account"):
        create_account(settings, EMAIL, tmp_path / "second.pem")

    assert [path.name for path in tmp_path.iterdir()] == ["ann.pem"]


class TokenEndpoint(BaseHTTPRequestHandler):
    """Answers like the token endpoint, and keeps what it was sent."""

    forms: list[dict[str, list[str]]] = []
    status = 200

    def do_POST(self):
        """Note the form and answer."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.forms.append({"path": self.path, **parse_qs(body)})
        answer = {"access_token": "a.b.c", "message": "Invalid authorization grant"}
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, *_):
        """Stay silent."""


@pytest.fixture
def endpoint(monkeypatch):
    """A token endpoint on this machine."""
    monkeypatch.setattr(TokenEndpoint, "forms", [])
    with HTTPServer(("127.0.0.1", 0), TokenEndpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_token_prints_nothing_but_the_token(run, endpoint, key_file, private_pem):
    """`token` prints only the token, for the given address and lifetime."""
    key_file.write_text(private_pem)

    code, out, err = run(
        "token", EMAIL, "--key-file", key_file, "--minutes", 5, PRESAGE_URL=endpoint + "/"
    )

    assert (code, out, err) == (0, "a.b.c\n", "")
    form = TokenEndpoint.forms[0]
    assert form["path"] == "/v2/oauth2/token"
    assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
    claims = jwt.decode(
        form["assertion"][0],
        public_pem_of(private_pem),
        ["RS256"],
        audience=f"{endpoint}/v2/oauth2/token",
    )
    assert claims["sub"] == EMAIL


def test_refused_token_says_what_to_compare(run, endpoint, key_file, private_pem, monkeypatch):
    """The service's error is shown together with common causes."""
    key_file.write_text(private_pem)
    monkeypatch.setattr(TokenEndpoint, "status", 401)

    code, out, err = run("token", EMAIL, "--key-file", key_file, PRESAGE_URL=endpoint)

    assert (code, out) == (1, "")
    assert "answered 401" in err
    assert "Invalid authorization grant" in err


@pytest.mark.parametrize(
    ("url", "text"),
    [("http://127.0.0.1:1", "make run"), ("file:///etc/passwd", "http:// or https://")],
)
def test_service_that_is_not_there(run, key_file, private_pem, url, text):
    """An address where nothing listens, or that is invalid, gives an error with a remedy."""
    key_file.write_text(private_pem)

    code, out, err = run("token", EMAIL, "--key-file", key_file, PRESAGE_URL=url)

    assert (code, out) == (1, "")
    assert text in err


def test_command_runs_as_a_module(tmp_path):
    """The command is started as the documentation says."""
    done = subprocess.run(
        [sys.executable, "-m", "infra.accounts", "list"],
        env={**os.environ, "PRESAGE_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("infra.accounts: no local stack")


def test_administrator_manages_api_keys(run, store, key_file, clients, tmp_path):
    """Keys are created into a new file or printed, listed without their secrets, and deleted."""
    run("create", EMAIL, "--key-file", key_file)
    account, keys = (
        store.find_by_email(EMAIL),
        ApiKeyService(store, ApiKeyStore(clients), system_clock),
    )
    file = tmp_path / "shop.key"
    asked = ("--scope", "predict", "--expires", "2099-12-31T00:00:00Z", "--api-key-file", file)

    code, out, err = run("keys", "create", EMAIL, "shop", *asked)
    printed = run("keys", "create", EMAIL, "other")[1].strip()

    secret = file.read_text().strip()
    assert (code, err, stat.S_IMODE(file.stat().st_mode)) == (0, "", 0o600)
    assert secret not in out
    made = [keys.find_caller(one).key for one in (secret, printed)]
    assert [(key.name, key.scope) for key in made] == [("shop", "predict"), ("other", "all")]
    head, *lines = run("keys", "list", EMAIL)[1].splitlines()
    assert head.split() == ["id", "begins", "scope", "created", "expires", "last", "used", "name"]
    assert [line.split()[:3] for line in lines] == [
        [key.key_id, key.prefix, key.scope] for key in made
    ]
    assert "2099-12-31" in lines[0]
    assert run("keys", "create", EMAIL, "again", "--api-key-file", file)[0] == 1
    assert run("keys", "delete", EMAIL, made[0].key_id)[0] == 0
    assert [key.name for key in keys.of_account(account)] == ["other"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("create", "unknown@example.com", "n"), "no active account"),
        (("create", EMAIL), "name the new key"),
        (("delete", EMAIL), "id of the one to delete"),
        (("delete", EMAIL, "A" * 26), "no API key"),
        (("delete", EMAIL, "pk_" + "A" * 43), "no API key pk_…;"),
        (("create", EMAIL, "n", "--expires", "2001-01-01"), "in the past"),
    ],
)
def test_wrong_commands_for_api_keys_are_one_line(run, key_file, tmp_path, arguments, text):
    """Each refusal is one line, and leaves no key and no file."""
    run("create", EMAIL, "--key-file", key_file)
    file = tmp_path / "shop.key"

    code, out, err = run("keys", *arguments, "--api-key-file", file)

    assert (code, out, err.count("\n")) == (1, "", 1)
    assert text in err
    assert not file.exists()
    assert len(run("keys", "list", EMAIL)[1].splitlines()) == 1


def test_new_key_file_revokes_api_keys_only_on_request(run, key_file, tmp_path):
    """`--revoke-keys` ends them together with the key file."""
    run("create", EMAIL, "--key-file", key_file)
    run("keys", "create", EMAIL, "shop")

    run("reset-key", EMAIL, "--key-file", tmp_path / "second.pem")
    assert len(run("keys", "list", EMAIL)[1].splitlines()) == 2

    assert (
        "revoked" in run("reset-key", EMAIL, "--key-file", tmp_path / "3.pem", "--revoke-keys")[1]
    )
    assert len(run("keys", "list", EMAIL)[1].splitlines()) == 1
    run("keys", "create", EMAIL, "shop")
    run("close", EMAIL)
    assert "no active account" in run("keys", "list", EMAIL)[2]
