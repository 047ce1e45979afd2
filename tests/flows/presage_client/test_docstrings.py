"""The examples in the client's docstrings run unchanged."""

from __future__ import annotations

import ast
import re
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path

import presage as package
from presage import Presage

from tests.flows.presage_client import WEATHER
from tests.flows.presage_client.every_call import write_orders
from tests.papers import paper
from tests.pdfs import text_pdf

DESCRIBED = (ast.ClassDef, ast.FunctionDef)
SOURCES = Path(package.__file__).parent / "_sync"


def examples() -> Iterator[tuple[str, str]]:
    """Yield the location and code of each example of the synchronous client."""
    for path in sorted(SOURCES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            text = ast.get_docstring(node) if isinstance(node, DESCRIBED) else None
            for code in re.findall(r"^Example:\n((?: {4}.*\n?)+)", text or "", re.MULTILINE):
                yield f"{path.stem}.{node.name}", textwrap.dedent(code)


def test_examples_run(world, account, tmp_path, monkeypatch, capsys):
    """Each example runs with a client, a text dataset and its model."""
    shutil.copy(WEATHER, tmp_path / "tickets.csv")
    paper(["Invoice 17"]).save(tmp_path / "page.png")
    (tmp_path / "new.pdf").write_bytes(text_pdf(["Order: 17"]))
    write_orders(tmp_path / "invoices")
    (tmp_path / "key.pem").write_text(account[1])
    monkeypatch.chdir(tmp_path)
    for name, value in (("URL", world.stack.url), ("EMAIL", account[0]), ("KEY_FILE", "key.pem")):
        monkeypatch.setenv(f"PRESAGE_{name}", value)
    found = dict(examples())
    with Presage.from_env() as client:
        data = client.language.datasets.upload("tickets.csv", type="text-intent")
        client.language.examples.add(data.id, "is the parcel wet", label=data.labels[0].name)
        model = data.train("tickets", profile="fast").wait()
        model.export().save("model.zip")
        for place, code in found.items():
            names = {"client": client, "data": data, "model": model, "Presage": Presage}
            exec(compile(code, place, "exec"), names)  # noqa: S102 - our own; a traceback names it
    assert len(found) == 14
    assert (tmp_path / "back.csv").stat().st_size
    assert "Invoice 17" in capsys.readouterr().out
