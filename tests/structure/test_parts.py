"""The parts of the suite contain every test exactly once."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from tests import busy
from tests.parts import CHECK, DIVISION, FAST_DIVISION, TIMED, Part, parts, summary

ROOT = Path(__file__).parents[2]


def files_of(part: Part) -> set[str]:
    """Return the test files that a part selects."""
    arguments = part.arguments
    ignored = {a.removeprefix("--ignore=") for a in arguments if a.startswith("--ignore=")}
    return {
        str(path.relative_to(ROOT))
        for chosen in arguments
        if not chosen.startswith("-")
        for path in (
            [ROOT / chosen] if chosen.endswith(".py") else (ROOT / chosen).rglob("test_*.py")
        )
        if not any(path.is_relative_to(ROOT / other) for other in ignored)
    }


@pytest.mark.parametrize("options", [[], ["--fast"]])
def test_every_test_is_in_one_part(options: list[str]) -> None:
    """No file of tests is left out, and none runs twice."""
    queue, alone = parts(options)
    found = [path for part in (*queue, alone) for path in files_of(part)]

    assert sorted(found) == sorted(files_of(Part("all", ["tests"])))
    assert all(
        (ROOT / path).exists()
        for path in (*sum((*DIVISION.values(), *FAST_DIVISION.values()), ()), *TIMED)
    )


def test_checks_are_a_separate_part() -> None:
    """`--check` adds the checks to the parts, and pytest does not get the option."""
    queue, alone = parts(["--check", "-x"])

    assert [part.name for part in queue if part.program == CHECK] == ["check"]
    assert not any("--check" in part.arguments for part in (*queue, alone))
    assert all("-x" in part.arguments for part in (*queue, alone) if part.program != CHECK)


def test_the_parts_are_summed_up() -> None:
    """The summary adds numbers, and names a part that was interrupted."""
    found = [
        Part("stacks", [], 0, "1,000 passed in 3.00s".replace(",", "")),
        Part("others", [], 1, "1 failed, 20 passed, 2 errors in 4.00s"),
        Part("timed", [], 3, ""),
    ]

    said = summary(found, 61.0)

    assert (
        said == "2 error, 1 failed, 1,020 passed; others ended with 1; timed ended with 3 in 1:01"
    )


def test_failures_are_shown_and_end_non_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part shows its progress with its name, then its failures, and sets the exit status."""
    (tmp_path / "test_two.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # no plugin is needed, all are slow
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    part = Part("two", [*options, "--rootdir", str(tmp_path), str(tmp_path)])

    part.run()

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("two     .F")
    assert any(line.startswith("E ") and "assert 0" in line for line in lines)
    assert part.status == 1
    assert part.last.startswith("1 failed, 1 passed in")


def test_parts_run_several_times_next_to_busy_loops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`make test-busy` runs each named part several times and reports every run."""
    loops, statuses = [], iter([0, 1])

    def run(part: Part) -> None:
        part.status, part.last = next(statuses), "3 passed in 1.00s"

    monkeypatch.setattr(Part, "run", run)
    monkeypatch.setattr(busy, "busy_loops", lambda count: (loops.append(count), nullcontext())[1])

    assert busy.main(["engines", "--times", "2"]) == 1

    assert loops == [2]
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines() if line]
    assert rows == [
        ["part", "run", "result"],
        ["engines", "1", "passed"],
        ["engines", "2", "FAILED"],
    ]


def test_parts_that_do_not_exist_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown part ends the command at once; the error lists the parts."""
    with pytest.raises(SystemExit):
        busy.main(["--loops", "0", "nonsense"])

    assert "nonsense: not a part. Parts: flows, kills" in capsys.readouterr().err
