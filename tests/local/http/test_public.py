"""The public URL: valid values, hosts, and callers behind proxies."""

from __future__ import annotations

import pytest

from infra.local.environment import process_environment
from infra.local.http.public import WrongAddress, read_public_address
from infra.local.options import parse
from infra.local.state import State

URL = "https://presage.example.org"


def read(**variables: str):
    """Read the address from variables without their prefix."""
    given = {f"PRESAGE_{name.upper()}": value for name, value in variables.items()}
    return read_public_address(given, "0.0.0.0")  # noqa: S104 - nothing is bound


@pytest.mark.parametrize(
    "url",
    [
        "presage.example.org",
        "ftp://presage.example.org",
        "https://",
        "https://a.example/path",
        "https://a.example?x=1",
        "https://user@a.example",
        "https://a.example:99999",
        "https://a.example:",
        "https://a b.example",
        "https://:443",
        "https://exämple.org",
    ],
)
def test_public_url_is_scheme_and_host(url):
    """Anything but a scheme and a host is refused by a text that names variable and example."""
    with pytest.raises(WrongAddress, match=r"PRESAGE_PUBLIC_URL must be scheme and host"):
        read(public_url=url)


def test_wrong_proxies_are_refused():
    """A name is not an address, and proxies without a public URL would change nothing."""
    with pytest.raises(WrongAddress, match=r"PRESAGE_TRUSTED_PROXIES must be addresses"):
        read(public_url=URL, trusted_proxies="proxy.example")
    with pytest.raises(WrongAddress, match=r"PRESAGE_TRUSTED_PROXIES needs PRESAGE_PUBLIC_URL"):
        read(trusted_proxies="10.0.0.1")


@pytest.mark.parametrize(
    ("host", "is_accepted"),
    [
        ("presage.example.org", True),
        ("PRESAGE.example.org", True),
        ("presage.example.org:443", True),
        ("presage.example.org:8443", False),
        ("presage.example.org.attacker.example", False),
        ("attacker.example", False),
        ("", False),
        ("127.0.0.1:8000", True),
        ("localhost", True),
        ("[::1]:8000", True),
        ("localhost.attacker.example", False),
    ],
)
def test_only_own_names_are_accepted(host, is_accepted):
    """A Host header must be the public one or a name of this machine."""
    assert read(public_url=f"{URL}:443/").has_host(host) is is_accepted


@pytest.mark.parametrize(
    ("peer", "forwarded", "caller"),
    [
        ("10.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.5", "203.0.113.5"),
        ("10.0.0.1", "198.51.100.1, 203.0.113.5, 10.0.0.2", "203.0.113.5"),
        ("203.0.113.9", "198.51.100.1", "203.0.113.9"),
        ("10.0.0.1", "not an address", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
    ],
)
def test_only_trusted_proxies_name_the_caller(peer, forwarded, caller):
    """The caller is the last address that is not a trusted proxy; forged ones are ignored."""
    public = read(public_url=URL, trusted_proxies="10.0.0.0/8, 192.0.2.1")

    assert public.caller(peer, [("X-Forwarded-For", forwarded)]) == caller
    assert read(public_url=URL).caller(peer, [("X-Forwarded-For", forwarded)]) == peer


def test_open_address_needs_a_public_url(capsys):
    """The front binds to other addresses only with a public URL."""
    with pytest.raises(SystemExit) as ended:
        parse(["--host", "0.0.0.0"], {})  # noqa: S104 - refused

    assert ended.value.code == 2
    assert "needs PRESAGE_PUBLIC_URL" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parse([], {"PRESAGE_HOST": "presage.example.org"})
    assert "is not an IP address" in capsys.readouterr().err
    assert parse([], {}).host == "127.0.0.1"
    opened = parse([], {"PRESAGE_HOST": "::", "PRESAGE_PUBLIC_URL": URL})
    assert (opened.host, opened.public.url) == ("::", URL)


def test_storage_is_below_the_public_url(tmp_path):
    """Bucket URLs and audience follow the public URL, unless a storage URL is set."""
    given = {"PRESAGE_PUBLIC_URL": f"{URL}:8443", "PRESAGE_AUDIENCE_HOSTS": "old.example"}
    options = parse(["--state", str(tmp_path)], given)
    state = State(tmp_path)

    made = process_environment(given, options, state, "http://127.0.0.1:1")
    own = process_environment(
        {**given, "PRESAGE_PUBLIC_STORAGE_URL": "https://s3.example"}, options, state, "http://x"
    )

    assert made["PRESAGE_PUBLIC_STORAGE_URL"] == f"{URL}:8443/storage"
    assert made["PRESAGE_AUDIENCE_HOSTS"] == "old.example,presage.example.org"
    assert own["PRESAGE_PUBLIC_STORAGE_URL"] == "https://s3.example"


def test_known_keys_are_refused(tmp_path):
    """The well-known emulator keys are refused with a public URL."""
    given = {"PRESAGE_PUBLIC_URL": URL, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    options = parse(["--state", str(tmp_path)], given)

    with pytest.raises(ValueError, match="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"):
        process_environment(given, options, State(tmp_path), "http://127.0.0.1:1")
