"""The version that the command shows."""

import sys

import pytest
from presage.cli.app import main

from chalicelib import __version__


def test_version_option_needs_no_service(monkeypatch, capsys):
    """`presage --version` shows the version of the service's health check, without a call."""
    monkeypatch.setenv("PRESAGE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(sys, "argv", ["presage", "--version"])

    with pytest.raises(SystemExit) as ended:
        main()

    assert not ended.value.code
    assert capsys.readouterr().out == f"presage {__version__}\n"
