"""Tests of the console's files: vendored libraries, size, calls and texts."""

from __future__ import annotations

import hashlib
import re

import pytest

from chalicelib.web import console

MOST_BYTES = 450_000
MOST_LINES = 450
WORDS = ("words.js", "words_files.js")
# Of preact 10.29.8 (with its hooks) and htm 3.1.1.
VENDORED = {
    "preact.module.js": "c30e721ebfdc6e2ad4c18c14d2dfb82667829c8aec27de1207774e3fc16858a8",
    "hooks.module.js": "a6ee626f2d01570592dd569a792e3f050154aa02890eead8c223fa3ed5aa3d5a",
    "htm.module.js": "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4",
}
LICENCES = {"preact.LICENSE.txt", "htm.LICENSE.txt"}
FILES = sorted(console.FOLDER.iterdir())
OWN = {path.name: path.read_text("utf-8") for path in FILES if path.name not in VENDORED}
SCRIPTS = {name: text for name, text in OWN.items() if name.endswith(".js")}


@pytest.mark.parametrize(("name", "digest"), VENDORED.items())
def test_third_party_files_are_unmodified(name, digest):
    """Libraries are vendored unmodified, except for the name under which hooks import Preact."""
    content = (console.FOLDER / name).read_bytes()
    published = content.replace(b'from"./preact.module.js"', b'from"preact"')
    assert hashlib.sha256(published).hexdigest() == digest


def test_licences_are_there():
    """Each vendored library comes with its licence."""
    assert set(console.TYPES) >= LICENCES


def test_console_is_small():
    """All files together stay below 450 kB compressed, and no component is too long."""
    assert sum(path.stat().st_size for path in FILES) <= MOST_BYTES
    components = {name: text.count("\n") for name, text in SCRIPTS.items() if name not in WORDS}
    assert {name: count for name, count in components.items() if count > MOST_LINES} == {}


def test_every_file_is_served(stranger):
    """The page and its files have their content types; any other path is a 404."""
    for name, kind in console.TYPES.items():
        file = stranger("GET", f"/console/{name}")
        assert (file.status, file.headers["Content-Type"]) == (200, kind)
    for name in ("index.html", "absent.js", "..%2Fexamples.json"):
        assert stranger("GET", f"/console/{name}").status == 404


def test_policy_lets_nothing_in(call, world):
    """The policy allows scripts from the page's origin, and calls to it and the stage's bucket."""
    answer = call("GET", "/console", authorization="")
    bucket = world.container.stores.artifacts.bucket_url
    rules = dict(
        rule.split(" ", 1) for rule in answer.headers["Content-Security-Policy"].split("; ")
    )

    assert answer.status == 200
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["connect-src"] == f"'self' {bucket} {bucket}/"
    assert rules["require-trusted-types-for"] == "'script'"
    assert rules["trusted-types"] == "'none'"
    assert not {"'unsafe-inline'", "'unsafe-eval'", "*"} & set(" ".join(rules.values()).split())


def test_page_is_cut_off_from_its_opener(call):
    """A page that opens the console can neither navigate it nor read its address."""
    headers = call("GET", "/console", authorization="").headers

    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_page_has_no_inline_script_and_no_foreign_address():
    """The page has no inline scripts, no HTML built from strings, and no foreign URLs."""
    page = OWN["index.html"]
    assert re.findall(r"<script[^>]*>([^<]*)<", page) == [""]
    assert not re.search(r"\son\w+=|style=", page)
    for name, text in SCRIPTS.items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text), (
            name
        )
        known = text.replace("https://api.einstein.ai/v2/oauth2/token", "")
        assert not re.search(r"https?://", known), name


def test_page_is_seen_at_once_and_asks_for_its_scripts_together():
    """The page shows content before any script runs, and its head preloads every script."""
    page = OWN["index.html"]
    named = re.findall(r'<link rel="modulepreload" href="console/([^"]+)">', page)
    scripts = {path.name for path in FILES if path.suffix == ".js"}
    assert sorted(named) == sorted(scripts - {"app.js"})
    assert re.search(r'<div id="app">.*Presage.*</div>', page)


def test_browsers_are_redirected_to_the_console(stranger):
    """At `/` browsers are redirected to the console, other clients to the docs."""
    browser = stranger("GET", "/", accept="text/html,application/xhtml+xml,*/*;q=0.8")
    program = stranger("GET", "/", accept="*/*")

    assert (browser.status, browser.headers["Location"]) == (302, "/console")
    assert (program.status, program.headers["Location"]) == (302, "/v2/docs")


def test_every_call_is_described(paths):
    """Every call that the console makes is in the OpenAPI document, for each family used."""
    called = re.findall(r'^  (\w+): "([A-Z]+) (/v2/\S+)",$', OWN["api.js"], re.MULTILINE)

    assert len(called) > 20
    for name, method, template in called:
        families = ("language", "vision") if "{family}" in template else ("",)
        for family in families:
            path = template.replace("{family}", family)
            assert method.lower() in paths.get(path, {}), name
        assert any(f'"{name}"' in text for text in SCRIPTS.values()), f"{name} is never called"


def test_every_word_is_known():
    """Each text of a page is in the file of texts, and each text there is used."""
    tables = "".join(SCRIPTS[name] for name in WORDS)
    words = set(re.findall(r'^  "([\w.-]+)":\s+"', tables, re.MULTILINE))
    others = {name: text for name, text in SCRIPTS.items() if name not in WORDS}
    code = "\n".join(others.values())
    asked = set(re.findall(r'(?<![\w.])t\(\s*"([\w.-]+)"', code))
    made = set(re.findall(r"(?<![\w.])t\(\s*`([\w.]+)\$", code))
    choices = {
        w for pair in re.findall(r'\bt\([^()]*\? "([\w.]+)"\s+: "([\w.]+)"', code) for w in pair
    }

    assert (asked | choices) - words == set()
    left = {w for w in words - asked - choices if not w.startswith(tuple(made))}
    assert left == set()
    assert all(any(w.startswith(prefix) for w in words) for prefix in made)
