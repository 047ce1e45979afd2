"""Which encoders a training takes."""

import pytest

from chalicelib.engines.text.encoding.profiles import (
    BUDGET_SECONDS,
    Profile,
    ProfileRequest,
    choose_profile,
    embedding_seconds,
)

INSTALLED = {"bge", "use", "mpnet", "e5"}
TEXTS = ["when will my card arrive"] * 1000


def chosen(language="en_US", algorithm="intent", asked=None, texts=TEXTS, installed=INSTALLED):
    """Name and encoders that are chosen."""
    wanted = ProfileRequest(language, algorithm, asked)
    profile = choose_profile(wanted, texts, installed.__contains__)
    return profile.name, profile.encoders


@pytest.mark.parametrize(
    ("language", "algorithm", "encoders"),
    [
        ("en_US", "intent", ("bge", "mpnet")),
        ("en_GB", None, ("bge", "mpnet")),
        ("en_US", "multilingual-intent", ("e5", "use")),
        ("en_US", "multilingual-intent-ood", ("e5", "use")),
        ("fr", "intent", ("e5", "use")),
        ("zh_TW", None, ("e5", "use")),
    ],
)
def test_the_best_installed_encoders_are_taken(language, algorithm, encoders):
    """Without a wish, language and algorithm decide over the large encoder."""
    assert chosen(language, algorithm) == ("accurate", encoders)


def test_what_is_asked_for_is_taken():
    """A wish is never changed, whatever is installed and however much it costs."""
    many = TEXTS * 2000

    assert chosen(asked="fast") == ("fast", ("bge",))
    assert chosen(asked="accurate", texts=many, installed=set()) == (
        "accurate",
        ("bge", "mpnet"),
    )


@pytest.mark.parametrize("missing", ["mpnet", "bge"])
def test_a_profile_is_taken_whole(missing):
    """With one encoder missing the accurate profile is none."""
    assert chosen(installed=INSTALLED - {missing})[0] == "fast"
    assert chosen("fr", installed=INSTALLED - {"mpnet", "bge"})[0] == "accurate"


def test_many_texts_go_without_the_large_encoder():
    """From some size on its vectors cost more than they are worth; e5 goes further than mpnet."""

    def texts(count):
        return ["one two three four five six seven eight nine ten"] * count

    assert chosen(texts=texts(50_000))[0] == "accurate"
    assert chosen(texts=texts(100_000))[0] == "fast"
    assert chosen("fr", texts=texts(100_000))[0] == "accurate"
    assert chosen("fr", texts=texts(300_000))[0] == "fast"


def test_long_texts_cost_what_is_left_of_them():
    """Words beyond the last one that is read cost nothing; Chinese is counted by characters."""
    profile = Profile("accurate", ("e5", "use"))

    long, longer = (embedding_seconds(profile, ["word " * n], "fr") for n in (1_200, 5_000))

    assert long == longer
    assert embedding_seconds(profile, ["漢字漢字漢字"], "ja") > embedding_seconds(
        profile, ["漢字漢字漢字"], "fr"
    )
    assert embedding_seconds(Profile("fast", ("use",)), TEXTS, "fr") == 0
    assert BUDGET_SECONDS == 600
