"""Splits sentences into a training set and a test set, and generates the project's sentences."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from bench.sentiment.ratings import (
    USUAL_SPREAD,
    RatedSentence,
    read_clear_sentences,
    read_own_sentences,
    read_sentences,
)

OWN = "own"  # source of the project's sentences
# Sources of clearly positive or negative sentences, by file.
CLEAR_SOURCES = {
    "amazon.json": "productSentences",
    "imdb.json": "filmSentences",
    "yelp.json": "restaurantSentences",
}
# Pairs of sources with similar texts: if one is left out of training, so is the other.
ALIKE = {
    "amazonReviewSnippets": "productSentences",
    "movieReviewSnippets": "filmSentences",
}
_WRITTEN = Path(__file__).with_name("own_sentences.txt")
# Mean ratings that are assumed for the patterns below.
POSITIVE, NEGATIVE, NEUTRAL = 2.0, -2.0, 0.0
_PLAIN_SPREAD = 0.6  # standard deviation of the ratings of plain statements

_THINGS = (
    "the room", "my order", "the new menu", "this jacket", "your website", "the delivery",
    "the support team", "the battery", "the course", "this update", "our guide", "the soup",
    "the garden", "the printer", "that song", "the flight", "the manual", "this chair",
    "the concert", "the dentist",
)  # fmt: skip
_PRAISE = (
    "I really like {}", "{} is great", "{} was better than expected", "very happy with {}",
    "thank you so much for {}", "{} works perfectly", "what a pleasant surprise {} was",
    "I have no complaints about {}", "{} is not bad at all", "nothing wrong with {}, well done",
    "I would choose {} again", "{} never lets me down",
)  # fmt: skip
_BLAME = (
    "I do not like {}", "{} is not good", "{} was worse than expected", "very unhappy with {}",
    "I am disappointed by {}", "{} does not work", "what a waste of money {} was",
    "I can't recommend {} to anyone", "{} isn't worth the price", "{} keeps failing",
    "I would not choose {} again", "nobody was happy with {}",
)  # fmt: skip
_COMPLAINTS = (
    "still waiting for {}", "{} is three hours late", "nobody answers my messages about {}",
    "we have been on hold for forty minutes because of {}", "{} was cancelled and no one told us",
    "I was charged twice for {}", "{} never arrived", "third time that I ask about {}",
    "{} came with a part missing", "they sent me the wrong thing in place of {}",
    "standing in line for {} for over an hour", "I want a refund for {}",
    "you promised a call about {} and nothing happened", "{} stopped after two days",
)  # fmt: skip
_PLAIN = (
    "where can I find {}?", "I have a question about {}", "{} arrives on Monday",
    "we talked about {} yesterday", "{} is next to the entrance", "please send me details of {}",
    "who is responsible for {}?", "{} starts at half past nine", "I would like to change {}",
    "she asked him about {}", "there is a picture of {} on page four", "{} costs twelve euros",
    "is {} included?", "they bought it in March, together with {}",
)  # fmt: skip
_FACTS = (
    "Water boils at a hundred degrees.", "The shop closes at eight.", "I live in a small town.",
    "He is forty years old.", "Please call me back tomorrow.", "My number has changed.",
    "How do I reset my password?", "The bus stops opposite the school.", "It is raining.",
    "We are three adults and a child.", "I need a receipt.", "The file has twenty pages.",
    "Can I pay by card?", "The form is on the table.", "She works at a bank.",
    "I moved here two years ago.", "The train leaves from platform six.", "What time is it?",
    "My sister has two cats.", "Turn left after the bridge.", "ok", "Hello", "Tuesday", "The keys",
    "The box is made of wood.", "I will be there at five.", "Which size do you have?",
    "The report is about last year.", "There are four chairs in the kitchen.", "Maybe later.",
)  # fmt: skip
_SHORT_PRAISE = (
    "thanks!", "love it", "awesome", "perfect", "well done", "so good", "excellent service",
    "best ever", "highly recommended", "not bad", "can't complain", "made my day", "yay",
    "lovely", "great job", "I'm so happy", "couldn't be better", "no problems so far, great",
)  # fmt: skip
_SHORT_BLAME = (
    "awful", "hate it", "terrible", "never again", "so bad", "horrible service", "worst ever",
    "avoid", "not good", "not happy", "ruined my day", "disgusting", "what a joke", "useless",
    "I'm so angry", "couldn't be worse", "still broken", "no help at all",
)  # fmt: skip
_PATTERNS = (
    (_PRAISE, POSITIVE), (_BLAME, NEGATIVE), (_COMPLAINTS, NEGATIVE), (_PLAIN, NEUTRAL)
)  # fmt: skip
_EACH = 7  # sentences of each pattern


def own_sentences() -> list[RatedSentence]:
    """Return the project's distinct sentences, made from patterns or written in full."""
    found: dict[str, float] = {}
    for patterns, mean in _PATTERNS:
        found.update((text, mean) for text in _filled(patterns))
    for texts, mean in ((_SHORT_PRAISE, POSITIVE), (_SHORT_BLAME, NEGATIVE), (_FACTS, NEUTRAL)):
        found.update((text, mean) for text in texts)
    made = [
        RatedSentence(text, OWN, mean, USUAL_SPREAD if mean else _PLAIN_SPREAD)
        for text, mean in found.items()
    ]
    written = read_own_sentences(_WRITTEN, OWN)
    return [*made, *(each for each in written if each.text not in found)]


def _filled(patterns: tuple[str, ...]) -> Iterator[str]:
    """Yield several sentences per pattern. They use the words in `_THINGS` in rotation."""
    things = cycle(_THINGS)
    for number, pattern in enumerate(patterns):
        for _ in range(_EACH):
            text = pattern.format(next(things))
            yield text[0].upper() + text[1:] + "." * (number % 2) if pattern[-1] != "?" else text


_HELD_OF_256 = 26  # about a tenth of the rated sentences


@dataclass(frozen=True)
class Sentences:
    """The sentences for training and for testing."""

    training: list[RatedSentence]
    """Rated sentences for training."""
    held: list[RatedSentence]
    """Rated sentences for testing."""
    clear: list[RatedSentence]
    """Clearly positive or negative sentences, for training."""
    own: list[RatedSentence]
    """The project's sentences, for training."""

    @property
    def trained(self) -> list[RatedSentence]:
        """Return all sentences for training."""
        return [*self.training, *self.clear, *self.own]


def split_sentences(folder: Path) -> Sentences:
    """Read the sentences of a folder; split the rated sentences into training set and test set."""
    # The split is by digest, so that every run holds out the same sentences.
    rated = read_sentences(folder / "ratings.tar.gz")
    held = [sentence for sentence in rated if _is_held(sentence.text)]
    training = [sentence for sentence in rated if not _is_held(sentence.text)]
    known = {sentence.text for sentence in rated}
    clear = [
        sentence
        for name, source in CLEAR_SOURCES.items()
        for sentence in read_clear_sentences(folder / name, source)
        if sentence.text not in known
    ]
    return Sentences(training, held, clear, own_sentences())


def _is_held(text: str) -> bool:
    return hashlib.sha256(text.encode("utf-8")).digest()[0] < _HELD_OF_256
