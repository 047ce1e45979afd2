"""The state folder: files are complete or absent."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.session import Session

from infra.local.state import AWS_KEY_NAMES, AWS_KEYS_FILE, SECRET_FILE, State
from tests.full_disk import no_file_beyond


@pytest.fixture
def state(tmp_path: Path) -> State:
    """An empty state folder."""
    return State(tmp_path)


def test_a_signing_key_is_made_once(state: State) -> None:
    """Every start uses the signing key of the first, so tokens survive a restart."""
    made = state.token_secret()

    assert len(made) >= 32
    assert state.token_secret() == made
    assert [path.name for path in state.folder.iterdir()] == [SECRET_FILE]


def test_a_full_disk_leaves_no_half_key(state: State) -> None:
    """If the key cannot be written completely, neither it nor a temporary file remains."""
    with no_file_beyond(10), pytest.raises(OSError, match="too large"):
        state.token_secret()

    assert list(state.folder.iterdir()) == []


def test_each_installation_has_its_own_aws_keys(state: State, tmp_path: Path) -> None:
    """They are random, readable by their user alone, and the same at every start."""
    made = state.aws_keys()
    other = State(tmp_path / "other")
    other.prepare()

    assert [len(value) for value in made.values()] == [20, 40]
    assert state.aws_keys() == made
    assert set(made.values()).isdisjoint(other.aws_keys().values())
    assert (state.folder / AWS_KEYS_FILE).stat().st_mode & 0o777 == 0o600


def test_aws_tools_read_the_keys(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS_SHARED_CREDENTIALS_FILE may name the file."""
    made = state.aws_keys()
    for name in AWS_KEY_NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(state.folder / AWS_KEYS_FILE))

    found = Session().get_credentials()

    assert [found.access_key, found.secret_key] == list(made.values())


@pytest.mark.parametrize("content", ["", "[default]", "[default]\naws_access_key_id = A", "\0"])
def test_broken_aws_keys_are_replaced(state: State, content: str) -> None:
    """An incomplete AWS key pair is replaced."""
    (state.folder / AWS_KEYS_FILE).write_text(content)

    made = state.aws_keys()

    assert len(made) == 2
    assert state.aws_keys() == made


def test_a_full_disk_leaves_the_description_of_before(state: State) -> None:
    """If stack.json cannot be rewritten, it stays unchanged."""
    state.write_stack({"pid": 1})
    before = (state.folder / "stack.json").read_bytes()

    with no_file_beyond(10), pytest.raises(OSError, match="too large"):
        state.write_stack({"pid": 2, "url": "http://127.0.0.1:1"})

    assert (state.folder / "stack.json").read_bytes() == before
    assert len(list(state.folder.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"\n", b"0123456789", bytes(96), b"\xff" * 96])
def test_a_broken_key_is_replaced(state: State, content: bytes) -> None:
    """An empty, truncated or zeroed signing key is replaced."""
    (state.folder / SECRET_FILE).write_bytes(content)
    assert state.has_broken_secret()

    made = state.token_secret()

    assert len(made) >= 32
    assert made.encode() != content
    assert not state.has_broken_secret()
    assert state.token_secret() == made
