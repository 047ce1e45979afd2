"""How contacts are counted: what matches, and the F1 of counts."""

import pytest

from bench.ocr_contact_metrics import Tally, comparable


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        (("PHONE", "Phone: (716) 319-4874"), ("PHONE", "(716) 319-4874")),
        (("EMAIL", "E: Dana@Orchid.test"), ("EMAIL", "dana@orchid.test")),
        (("WEBSITE", "W: www.orchid.test"), ("WEBSITE", "www.orchid.test")),
        (("OTHER", "Senior Consultant"), ("TITLE", "Senior Consultant")),
        (("ORG", "ORCHID LABS, INC."), ("ORG", "Orchid Labs Inc")),
    ],
)
def test_match_ignores_case_punctuation_and_labels(truth, answer):
    """A match ignores case, punctuation and leading label words; a title may be OTHER."""
    assert comparable([truth]) == comparable([answer])


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        (("PHONE", "716 319 4874"), ("FAX", "716 319 4874")),
        (("PHONE", "716 319 4874"), ("PHONE", "716 319 4875")),
        (("PERSON", "Dana Reyes"), ("ORG", "Dana Reyes")),
    ],
)
def test_other_tag_or_text_is_no_match(truth, answer):
    """The tag and every letter and digit count."""
    assert comparable([truth]) != comparable([answer])


def test_address_lines_join_in_order():
    """Lines of an address are one entity, in the order in which they stand."""
    lines = [("ADDRESS", "12 Elm St"), ("ADDRESS", "Phoenix, AZ 85001")]
    assert comparable(lines) == comparable([("ADDRESS", "12 Elm St Phoenix AZ 85001")])
    assert comparable(lines) != comparable(reversed(lines))


def test_f1_is_micro_over_cards():
    """F1 counts entities of all cards alike, and of some tags only when they are named."""
    tally = Tally()
    tally.add([("PERSON", "Dana Reyes"), ("ORG", "Orchid")], [("PERSON", "Dana Reyes")])
    tally.add([("PERSON", "Kai Moss")], [("PERSON", "Kai Moss"), ("OTHER", "xy")])
    assert tally.f1() == pytest.approx(2 * 2 / (2 * 2 + 1 + 1))
    assert tally.f1("PERSON") == 1.0
    assert tally.f1("ORG") == 0.0
    assert tally.f1("FAX") == 1.0
