"""Chooses the most accurate set of encoders (profile) that is worth its cost in a training.

The constants are measured by bench/bench_text.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from chalicelib.domain.datasets.fields import count_words
from chalicelib.domain.datasets.windows import READ_WORDS
from chalicelib.domain.jobs.spreading import spread
from chalicelib.engines.text.encoding.encoders import ACCURATE, FAST, WORDS, encoder_names

# Longest processor time for the vectors of large encoders that were not requested.
BUDGET_SECONDS = 600.0
# Profile of English texts between fast and accurate.
BALANCED = "balanced"
_SECONDS_PER_WORD = {"mpnet": 0.7e-3, "e5": 0.265e-3}
_COSTS = {"bge": 0.19e-3, "minilm": 0.105e-3, "use": 0.065e-3, WORDS: 0.01e-3, **_SECONDS_PER_WORD}
# Processor time for a text of ten words, as a multiple of bge's. It includes the fixed time of each
# run, so it differs less between encoders than the time per word.
_SHORT_TEXT_COSTS = {"bge": 1.0, "minilm": 0.6, "use": 0.4, "mpnet": 3.2, "e5": 1.25, WORDS: 0.05}
# Relative decrease of the log-loss that justifies encoders that cost at most as much as bge. More
# expensive ones need more, in proportion.
_WORTH = 0.05
# A fit takes about this long for each text.
_FIT_SECONDS_OF_TEXT = 1.3e-3
# The fixed cost of a text or window, in words: begin, end, tokeniser, and the run itself.
_WORDS_OF_A_TEXT = 5
# Words of a longer text per window.
_WORDS_OF_A_WINDOW = 20
_SHORT_WORDS = 90
# With more texts, the vectors of spelling would need too much memory.
_MOST_SPELLED = 50_000
# Maximum and minimum number of texts for a comparison.
MOST_COMPARED, FEWEST_COMPARED = 4_000, 200
# Minimum number of texts of each label in a comparison. A label with fewer texts keeps all.
SAMPLE_OF_LABEL = 5
# Maximum embedding time of a comparison: a fraction of the time for embedding and fit, and for
# small sets also a number of seconds. The third value is the number of texts below which a set is
# small.
_COMPARED_PART, _SMALL_SECONDS, _SMALL_SET = 0.2, 1.2, 1_000


@dataclass(frozen=True)
class Profile:
    """A named set of encoders, with the reason why a training uses it."""

    name: str
    encoders: tuple[str, ...]
    """Short names of the encoders, sorted."""
    reason: str = ""
    """Reason for choosing the profile, for the model card."""


@dataclass(frozen=True)
class ProfileRequest:
    """The properties of a training that determine its profile."""

    language: str
    algorithm: str | None
    profile_name: str | None
    """Profile named in the request; None if the request names none."""

    def profile(self, name: str, reason: str = "") -> Profile:
        """Return the profile `name` for the language and algorithm of the training."""
        return Profile(name, encoder_names(self.language, self.algorithm, name), reason)


class StepResult(Protocol):
    """The result of a comparison of a profile with a more expensive profile."""

    @property
    def is_worth_it(self) -> bool:
        """Return whether additional encoders are worth their cost."""

    @property
    def reason(self) -> str:
        """Return why the encoders are used or not, as text for the model card."""


@dataclass(frozen=True)
class Ladder:
    """The profiles that a training can choose from, from the cheapest to the most expensive."""

    steps: tuple[Profile, ...]
    """Profiles in order of cost; the first one is the fast profile."""
    notes: tuple[str, ...] = ()
    """Reasons why other profiles are not available, for the model card."""


def find_ladder(
    request: ProfileRequest, texts: Sequence[str], is_installed: Callable[[str], bool]
) -> Ladder:
    """Return the profiles whose encoders are installed and can embed the texts in limited time.

    Args:
        request: properties of the training; `profile_name` is None.
        texts: all texts of the training.
        is_installed: returns whether the files of an encoder are installed.
    """
    fast = request.profile(FAST)
    between = [Profile(BALANCED, ("bge", "minilm"))] if fast.encoders == ("bge",) else []
    steps, notes = [fast], []
    for step in (*between, request.profile(ACCURATE)):
        missing = [name for name in step.encoders if not is_installed(name)]
        if missing:
            notes.append(f"{'+'.join(step.encoders)} is not tried: {missing[0]} is not installed")
        elif embedding_seconds(step, texts, request.language) > BUDGET_SECONDS:
            notes.append(f"{'+'.join(step.encoders)} is not tried: the texts are too many for it")
        else:
            steps.append(step)
    return Ladder(tuple(steps), tuple(notes))


def profile_of_names(ladder: Ladder) -> Profile:
    """Choose a profile without a comparison, for a training with label names and few texts."""
    fast, best = ladder.steps[0], ladder.steps[-1]
    if not _gains_untested(fast):
        return replace(fast, reason="Few examples do not show which encoders are best.")
    said = ["few examples do not show which encoders are best", *ladder.notes]
    return replace(best, reason=f"Chosen automatically: {'; '.join(said)}.")


def embedding_seconds(profile: Profile, texts: Sequence[str], language: str) -> float:
    """Return the processor time of the large encoders of `profile` for the texts, in seconds."""
    factor = sum(_SECONDS_PER_WORD.get(name, 0.0) for name in profile.encoders)
    return factor * sum(_words(text, language) for text in texts)


def cost_of(profile: Profile, base: Profile) -> float:
    """Return the processor time of `profile` for a short text, divided by the time of `base`."""
    own, other = (sum(_SHORT_TEXT_COSTS[name] for name in one.encoders) for one in (profile, base))
    return own / other


def required_decrease(step: Profile, base: Profile) -> float:
    """Return the relative decrease of the log-loss that justifies `step` instead of `base`."""
    return _WORTH * max(1.0, (_cost(step) - _cost(base)) / _COSTS["bge"])


def needs_proof(base: Profile) -> bool:
    """Return whether a training adds encoders to `base` only if they reduce wrong answers."""
    # In other languages, e5 gains on nearly all datasets, which samples of 200 texts often hide.
    # all-MiniLM does not: it lowered the log-loss on half of 27 draws, and the accuracy too.
    return "bge" in base.encoders


def compared_texts(step: Profile, base: Profile, texts: Sequence[str], language: str) -> int:
    """Return how many texts a comparison of two profiles may embed.

    The limit comes from word counts and constants, not from measured times. So the same data
    always gives the same encoders.
    """
    words = sum(_words(text, language) for text in texts)
    seconds = _COMPARED_PART * (words * _cost(base) + _FIT_SECONDS_OF_TEXT * len(texts))
    if len(texts) < _SMALL_SET:
        seconds = min(seconds, _SMALL_SECONDS)
    further = sum(_COSTS[name] for name in step.encoders if name not in base.encoders)
    return min(MOST_COMPARED, int(seconds / (further * words / len(texts))))


def climb(
    ladder: Ladder,
    texts: Sequence[str],
    language: str,
    compare: Callable[[int, Profile, Profile], StepResult],
) -> Profile:
    """Compare the profiles from the cheapest upwards; return the best one that is worth its cost.

    Finally, the chosen profile is compared with a profile that adds the encoder `words` (spelling).

    Args:
        ladder: the profiles.
        texts: all texts of the training.
        language: language of the dataset.
        compare: compares two profiles, given the approximate number of texts to sample, the
            cheaper profile and the more expensive profile.

    Returns:
        The chosen profile, with the results of the comparisons as its reason.
    """
    base, said = ladder.steps[0], list(ladder.notes)
    chosen = base
    for step in ladder.steps[1:]:
        name = f"{'+'.join(step.encoders)} ({cost_of(step, base):.1f} x the cost)"
        count = compared_texts(step, base, texts, language)
        is_first, is_small = step is ladder.steps[1], len(texts) < _SMALL_SET
        if is_first and not is_small:
            count = max(count, FEWEST_COMPARED)
        if min(count, len(texts)) < FEWEST_COMPARED:
            is_taken = is_small and _gains_untested(base)
            said.append(f"{name} is {'' if is_taken else 'not '}taken: too few texts to compare")
        else:
            found = compare(count, chosen, step)
            is_taken = found.is_worth_it
            said.append(f"{name} is {found.reason}")
        chosen = step if is_taken else chosen
    spelled = replace(chosen, encoders=(*chosen.encoders, WORDS))
    # The vectors of spelling are cheap, but the fits are not.
    count = min(MOST_COMPARED, max(FEWEST_COMPARED, len(texts) // 2), len(texts))
    if len(texts) > _MOST_SPELLED:
        said.append(f"{WORDS} (spelling) is not tried: the texts are too many for it")
    elif count >= FEWEST_COMPARED:
        found = compare(count, chosen, spelled)
        said.append(f"{WORDS} (spelling) is {found.reason}")
        chosen = spelled if found.is_worth_it else chosen
    return replace(chosen, reason=f"Chosen automatically: {'; '.join(said)}.")


def spread_texts(encoder: str, texts: Sequence[str], language: str) -> list[list[str]]:
    """Split texts into parts, one for each worker; return no parts if one worker is enough."""
    factor = _SECONDS_PER_WORD.get(encoder, 0.0)
    return spread(texts, lambda text: factor * _words(text, language)) if factor else []


def _gains_untested(base: Profile) -> bool:
    # For names in other languages, e5 and use together are correct for one in ten more texts than
    # use alone. In English, bge alone is as good as with minilm on five texts a label.
    return base.encoders != ("bge",)


def _cost(profile: Profile) -> float:
    return sum(_COSTS[name] for name in profile.encoders)


def _words(text: str, language: str) -> int:
    words = min(count_words(text, language), READ_WORDS)
    windows = 1 if words <= _SHORT_WORDS else words // _WORDS_OF_A_WINDOW
    return _WORDS_OF_A_TEXT * windows + words
