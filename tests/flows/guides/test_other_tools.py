"""Code blocks for other tools match the OpenAPI document, and those of installed languages run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import which

import pytest

from chalicelib.routes import OPERATIONS
from chalicelib.web.openapi.document import document
from tests.flows.guides.terminal import ROOT, Terminal, blocks
from tests.local_stack import LocalStack

PAGE = ROOT / "docs" / "other-tools.md"
DOCUMENT = document(OPERATIONS)
# How a block of each language writes a field of the body.
FIELDS = {
    "sh": r"-F \"?(\w+)=",
    "js": r"(\w+): ",
    "py": r"\"(\w+)\": ",
    "ruby": r"(\w+): ",
    "go": r"\"(\w+)\": ",
    "gs": r"(\w+): ",
    "text": r"Data: (\w+) =",
    "apex": r"'(\w+)' =>",
}
# Where the body is in a block that has other members too.
BODIES = {
    "js": r"JSON\.stringify\((.*)\)",
    "py": r"json\.dumps\((.*)\)",
    "ruby": r"JSON\.generate\((.*)\)",
    "go": r"json\.Marshal\((.*)\)",
    "gs": r"JSON\.stringify\((.*)\)",
}
# The file and the command of each language that may be installed.
PROGRAMS = {
    "js": ("call.mjs", "node"),
    "py": ("call.py", "python3"),
    "ruby": ("call.rb", "ruby"),
    "go": ("call.go", "go run"),
}


def find_fields(kind: str, block: str) -> set[str]:
    """Return the names of the fields that a block sends."""
    if kind == "json":
        read = json.loads(block)
        if "nodes" not in read:
            return set(read["inputs"]["body"])
        # n8n lists fields as pairs of name and value.
        (node,) = read["nodes"]
        return {pair["name"] for pair in node["parameters"]["bodyParameters"]["parameters"]}
    if kind in BODIES:
        block = "".join(re.findall(BODIES[kind], block))
    return set(re.findall(FIELDS[kind], block))


CALLS = [
    (kind, block) for kind in (*FIELDS, "json") for block in blocks(PAGE, kind) if "/v2/" in block
]


def test_every_tool_has_a_block() -> None:
    """Every tool's language has a code block that is checked."""
    assert len(CALLS) == PAGE.read_text("utf-8").count("```") // 2 == 11


@pytest.mark.parametrize(("kind", "block"), CALLS, ids=[kind for kind, _ in CALLS])
def test_blocks_name_what_the_service_has(kind: str, block: str) -> None:
    """Method, path, headers and fields of each block are in the OpenAPI document."""
    (path,) = set(re.findall(r"/v2/[\w/]+", block))
    call = DOCUMENT["paths"][path]["post"]
    media = "multipart/form-data" if kind == "sh" else "application/json"
    known = call["requestBody"]["content"][media]["schema"]["properties"]
    sent = find_fields(kind, block)

    # curl with -F and the POST action of Zapier send a POST without naming the method.
    assert kind in ("sh", "text") or re.search(r"\bPOST\b|HTTP\.post\(", block)
    assert {"apiKey": []} in call["security"]
    assert "$AUTH" in block or re.search(r"Authorization\W.*Bearer ", block)
    assert sent <= set(known)
    assert sent == ({"modelId", "sampleContent"} if "ocr" in path else {"modelId", "document"})


def test_programs_predict(tmp_path: Path, shipped_stack: LocalStack) -> None:
    """The program of each installed language prints the label; Python is always installed."""
    found = {kind: command for kind, (_, command) in PROGRAMS.items() if which(command.split()[0])}
    script = blocks(PAGE)[0]
    for kind, command in found.items():
        (program,) = blocks(PAGE, kind)
        file = PROGRAMS[kind][0]
        script += f"\ncat > {file} <<'END'\n{program}END\necho\n{command} {file}\n"
    terminal = Terminal(shipped_stack, tmp_path, is_quick=True)
    try:
        output = terminal.run(terminal.create_folder("programs"), script)
    finally:
        terminal.close()
    assert output.splitlines().count("delivery-date") == len(found) >= 1
