"""The progress of several downloads as one bar or as lines."""

import io

from infra.downloads.meter import Meter


class Terminal(io.StringIO):
    """A terminal that stores what is drawn."""

    def isatty(self):
        """Return that this is a terminal."""
        return True


def run(terminal=None):
    """Receive two files of 50 and 150 MB in 20 seconds, the first half of one present before."""
    now, lines = [0.0], []
    meter = Meter(200_000_000, lines.append, terminal, lambda: now[0])
    meter.start_file(25_000_000)
    for received in (30_000_000, 50_000_000):
        now[0] += 5
        meter.receive(received)
    meter.finish_file(50_000_000)
    meter.start_file(0)
    for received in (75_000_000, 150_000_000):
        now[0] += 5
        meter.receive(received)
    meter.finish_file(150_000_000)
    meter.close()
    return lines


def test_lines_when_the_output_is_not_a_terminal():
    """Lines have percentage, megabytes of all files and the rate of this start."""
    lines = run()

    assert lines[0] == "downloading: 15 %, 30 of 200 MB, 1.0 MB/s"
    assert lines[2] == "downloading: 62 %, 125 of 200 MB, 6.7 MB/s"
    assert lines[-1] == "downloading: 100 %, 200 of 200 MB, 8.8 MB/s"


def test_one_bar_on_a_terminal():
    """A terminal shows one line that is drawn again, and no plain lines."""
    terminal = Terminal()

    assert run(terminal) == []

    drawn = terminal.getvalue()
    assert drawn.count("\n") == 1
    assert drawn.endswith("\n")
    assert drawn.count("\r") >= 4
    assert "[##############----------]  62 %  125 of 200 MB, 6.7 MB/s" in drawn
