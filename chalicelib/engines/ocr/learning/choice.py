"""Chooses the captions of each entity: texts that are near its value in several documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chalicelib.engines.ocr.learning.captions import NearText
from chalicelib.engines.ocr.learning.examples import CaptionKey, LearningExample

# Maximum number of texts of a fitted key.
MOST_CAPTIONS = 10
# Maximum number of captions of an entity that are compared by reading the examples.
MOST_RANKED = 8
_LEAST_SCORE = 0.1
# From this number of examples on, a caption that is near only one value may be chance.
_MANY_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class RankedCaption:
    """A text that may be the caption of an entity."""

    text: str
    """Most frequent spelling of the text."""
    folded: str
    score: float
    """How regularly the text is near the entity's value, and not elsewhere; 0 to 1."""
    examples: frozenset[int]
    """Indexes of the examples in which the text is near the value."""


def rank_captions(examples: Sequence[LearningExample], entity: str) -> list[RankedCaption]:
    """Return the texts that may be captions of an entity, the best first.

    If there are many examples, a text that occurs in several of them is left out unless it is near
    the value in at least two.
    """
    located = {at: each.texts[entity] for at, each in enumerate(examples) if entity in each.texts}
    sightings: dict[CaptionKey, dict[int, NearText]] = {}
    for number, texts in located.items():
        for key, near in texts.items():
            sightings.setdefault(key, {})[number] = near
    best: dict[str, RankedCaption] = {}
    for (folded, _), seen in sightings.items():
        present = sum(examples[number].has(folded) for number in located)
        is_chance = len(seen) == 1 and len(located) >= _MANY_EXAMPLES and present > 1
        if is_chance:
            continue
        ranked = _ranked(folded, seen, present, len(located))
        if folded not in best or ranked.score > best[folded].score:
            best[folded] = ranked
    every = sorted(best.values(), key=lambda each: (-round(each.score, 6), each.text))
    return [each for each in every if each.score >= _LEAST_SCORE]


def _ranked(folded: str, hits: Mapping[int, NearText], present: int, located: int) -> RankedCaption:
    closeness = sum(near.closeness for near in hits.values()) / len(hits)
    # Fraction of the examples with the caption near the value, and fraction of the examples with
    # the caption in which it is near the value.
    cover, precision = len(hits) / located, len(hits) / max(1, present)
    spellings = Counter(near.text for near in hits.values())
    text = min(spellings, key=lambda each: (-spellings[each], each))
    score = closeness * precision * cover**0.5
    return RankedCaption(text, folded, score, frozenset(hits))


def choose_captions(
    ranked: Mapping[str, Sequence[RankedCaption]],
) -> dict[str, tuple[RankedCaption, ...]]:
    """Choose captions for all entities at once. No two entities have the same caption.

    Args:
        ranked: the possible captions of each entity, the best first.

    Returns:
        The captions of each entity that has any. Every caption after the first is needed for an
        example in which no earlier caption is near the value.
    """
    chosen: dict[str, list[RankedCaption]] = {entity: [] for entity in ranked}
    covered: dict[str, set[int]] = {entity: set() for entity in ranked}
    owners: dict[str, str] = {}
    pairs = [(each, entity) for entity, some in ranked.items() for each in some]
    for each, entity in sorted(pairs, key=lambda pair: (-pair[0].score, pair[1], pair[0].text)):
        is_new = not each.examples <= covered[entity]
        is_free = owners.get(each.folded, entity) == entity
        if is_new and is_free and len(chosen[entity]) < MOST_CAPTIONS:
            chosen[entity].append(each)
            covered[entity] |= each.examples
            owners[each.folded] = entity
    return {entity: tuple(found) for entity, found in chosen.items() if found}
