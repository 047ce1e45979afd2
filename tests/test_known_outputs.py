"""Networks that run once per input."""

import numpy as np

from tests.known_outputs import once_per_input


def test_outputs_are_computed_once_and_copied():
    """Equal inputs run a network once, and a caller may change what it gets; others run it."""
    inputs = []

    def run(text):
        inputs.append(text)
        return [np.full(len(text), 1.0)]

    look_up = once_per_input(run, lambda text: text, most_bytes=8 * 3)
    for text in ("one", "one", "one", "two", "large", "large"):
        (output,) = look_up(text)
        assert output.tolist() == [1.0] * len(text)
        output *= 2
    assert inputs == ["one", "two", "large", "large"]
