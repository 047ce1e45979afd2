"""The choice of encoders for a training."""

from dataclasses import dataclass

import pytest

from chalicelib.engines.text.encoding.profiles import (
    BUDGET_SECONDS,
    FEWEST_COMPARED,
    Profile,
    ProfileRequest,
    climb,
    compared_texts,
    cost_of,
    embedding_seconds,
    find_ladder,
    needs_proof,
    profile_of_names,
    required_decrease,
)

INSTALLED = {"bge", "minilm", "use", "mpnet", "e5"}
TEXTS = ["when will my card arrive"] * 5_000


@dataclass
class Answer:
    """A comparison with a given result."""

    is_worth_it: bool
    reason: str = "compared"


def ladder(language="en_US", algorithm="intent", texts=TEXTS, installed=INSTALLED):
    """Return the available profiles."""
    return find_ladder(ProfileRequest(language, algorithm, None), texts, installed.__contains__)


def climbed(texts=TEXTS, worth=(), language="en_US", installed=INSTALLED):
    """Return the chosen profile and the comparisons made."""
    made = []

    def compare(count, present, step):
        made.append((count, present.encoders, step.encoders))
        return Answer(step.encoders in worth)

    steps = ladder(language, "intent", texts, installed)
    return climb(steps, texts, language, compare), made


@pytest.mark.parametrize(
    ("language", "algorithm", "encoders"),
    [
        ("en_US", "intent", [("bge",), ("bge", "minilm"), ("bge", "mpnet")]),
        ("en_GB", None, [("bge",), ("bge", "minilm"), ("bge", "mpnet")]),
        ("en_US", "multilingual-intent-ood", [("use",), ("e5", "use")]),
        ("fr", "intent", [("use",), ("e5", "use")]),
    ],
)
def test_steps_of_a_language(language, algorithm, encoders):
    """The candidates depend on language and algorithm."""
    assert [step.encoders for step in ladder(language, algorithm).steps] == encoders


@pytest.mark.parametrize("missing", ["mpnet", "minilm"])
def test_steps_without_files_are_left_out_and_named(missing):
    """Candidates without files are skipped, and the reason names the missing encoder."""
    found = ladder(installed=INSTALLED - {missing})

    assert len(found.steps) == 2
    assert f"{missing} is not installed" in found.notes[0]
    assert climbed(installed={"bge"})[0].name == "fast"


def test_each_step_is_compared_with_the_best_so_far():
    """Each candidate is compared with the best so far."""
    small, large = ("bge", "minilm"), ("bge", "mpnet")

    chosen, made = climbed(worth=(small,))
    assert chosen.encoders == small
    assert "bge+minilm (1.6 x the cost) is compared" in chosen.reason
    spelled = (small, (*small, "words"))
    assert [pair[1:] for pair in made] == [(("bge",), small), (small, large), spelled]
    assert climbed(worth=(large,))[0].encoders == large
    assert climbed()[0].encoders == ("bge",)


def test_spelling_joins_the_chosen_encoders_where_it_gains():
    """Spelling is compared with the chosen encoders in every language, up to 50,000 texts."""
    chosen, made = climbed(worth=(("bge", "words"),))
    assert (chosen.encoders, chosen.name) == (("bge", "words"), "fast")
    # Half of the texts are enough.
    assert made[-1] == (2_500, ("bge",), ("bge", "words"))
    assert "words (spelling) is compared" in chosen.reason
    assert climbed(worth=(("use", "words"),), language="fr")[0].encoders == ("use", "words")
    assert climbed(TEXTS * 11)[1][-1][2] != ("bge", "words")


def test_spelling_is_named_where_the_texts_are_too_many():
    """Above 50,000 texts, the reason says that spelling was not tried."""
    chosen, made = climbed(TEXTS * 11, installed={"bge"})

    assert not made
    assert "words (spelling) is not tried: the texts are too many for it" in chosen.reason
    assert "words" not in climbed(["hello"], installed={"bge"})[0].reason


def test_small_sets_take_e5_untested():
    """If the sample is too small, other languages use e5, and English only bge."""
    chosen, made = climbed(TEXTS[:150])

    assert (chosen.encoders, made) == (("bge",), [])
    assert climbed(TEXTS[:300], language="fr")[0].encoders == ("e5", "use")
    # 500 texts are enough to compare minilm. That it is refused does not make mpnet better.
    chosen, made = climbed(TEXTS[:500])
    assert (chosen.encoders, [one[2] for one in made]) == (
        ("bge",),
        [("bge", "minilm"), ("bge", "words")],
    )


def test_a_gain_must_be_worth_its_cost():
    """The loss must fall by 5 % for minilm, a little more for e5, and much more for mpnet."""
    bge, balanced, accurate = ladder().steps
    assert required_decrease(balanced, bge) == 0.05
    assert 0.15 < required_decrease(accurate, balanced) < required_decrease(accurate, bge) < 0.2
    fast, best = ladder("fr").steps
    assert 0.05 < required_decrease(best, fast) < 0.1
    # A sample of 200 texts seldom proves the gain of e5, which nearly all datasets have.
    assert [needs_proof(one) for one in (bge, balanced, fast, best)] == [True, True, False, False]


def test_costs_in_reasons_are_those_of_short_texts():
    """Cards name the processor time of a text of ten words, not that of each further word."""
    bge, balanced, accurate = ladder().steps
    assert round(cost_of(balanced, bge), 1) == 1.6
    assert round(cost_of(accurate, bge), 1) == 4.2
    fast, best = ladder("fr").steps
    assert round(cost_of(best, fast), 1) == 4.1


@pytest.mark.parametrize("count", [1_000, 5_000, 50_000])
def test_comparisons_cost_a_fraction_of_embedding(count):
    """Comparison samples are limited in words to less than half of the embedding cost."""
    texts = ["when will my card arrive"] * count
    steps = ladder(texts=texts).steps
    of_text = {"minilm": 0.105e-3 * 10, "mpnet": 0.7e-3 * 10}

    spent = sum(
        compared_texts(step, steps[0], texts, "en_US") * of_text[step.encoders[1]]
        for step in steps[1:]
    )

    assert spent <= 0.45 * count * (0.19e-3 * 10 + 1.3e-3)
    assert FEWEST_COMPARED == 200


def test_many_texts_go_without_the_large_encoder():
    """Above a size limit large encoders are not used; the limit of e5 is higher than mpnet's."""

    def tops(count, language="en_US"):
        texts = ["one two three four five six seven eight nine ten"] * count
        return ladder(language, "intent", texts).steps[-1].encoders

    assert tops(50_000) == ("bge", "mpnet")
    assert tops(100_000) == ("bge", "minilm")
    assert tops(100_000, "fr") == ("e5", "use")
    assert tops(300_000, "fr") == ("use",)


def test_long_texts_cost_what_is_left_of_them():
    """Words beyond the truncation limit cost nothing; Chinese is counted by characters."""
    profile = Profile("accurate", ("e5", "use"))

    long, longer = (embedding_seconds(profile, ["word " * n], "fr") for n in (1_200, 5_000))

    assert long == longer
    assert embedding_seconds(profile, ["漢字漢字漢字"], "ja") > embedding_seconds(
        profile, ["漢字漢字漢字"], "fr"
    )
    assert embedding_seconds(Profile("fast", ("use",)), TEXTS, "fr") == 0
    assert BUDGET_SECONDS == 600


@pytest.mark.parametrize(
    ("language", "installed", "encoders"),
    [
        ("en_US", INSTALLED, ("bge",)),
        ("fr", INSTALLED, ("e5", "use")),
        ("fr", INSTALLED - {"e5"}, ("use",)),
    ],
)
def test_label_names_of_other_languages_use_the_best_installed_encoders(
    language, installed, encoders
):
    """Without examples other languages use the best installed encoder; missing ones are named."""
    chosen = profile_of_names(ladder(language, installed=installed, texts=[]))
    assert chosen.encoders == encoders
    assert ("e5 is not installed" in chosen.reason) is (language == "fr" and len(encoders) == 1)
