"""Measures the default training on commands with fixed patterns and random names.

The names are random letters. Neural networks do not recognise which words of a command are names.
The encoder `words`, which hashes words and letters, predicts the labels of these commands better.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from bench import peers
from bench.report import Bar, Report, say
from bench.text_data import Embedder, accuracy, right, train
from bench.text_default import chosen_profile

TRAINED, ASKED, SEED = 110, 110, 1
LETTERS = "abcdefghilmnoprstuvw"
FILLED = {
    "city": ("boston", "rome", "new york", "lima", "oslo", "seattle", "cairo", "salem", "dover"),
    "count": ("two", "3", "five", "6", "one", "four", "8", "ten"),
    "time": ("tomorrow", "at noon", "next week", "on friday", "tonight", "in 4 hours"),
    "kind": ("album", "song", "show", "game", "book", "painting", "movie", "novel", "picture"),
    "place": ("star cinemas", "the nearest cinema", "the odeon", "regal", "the film house"),
}
PATTERNS = {
    "add to list": ("add {} to my {} list", "put {} on {}", "i want {} added to {}", "add {} {}"),
    "book table": ("book a table in {city} for {count}", "a table at {} {time}", "eat at {}"),
    "weather": ("weather in {city} {time}", "will it rain in {} {time}", "forecast for {}"),
    "play": ("play {} by {}", "play the {kind} {}", "i want to hear {}", "play {}", "{} by {}"),
    "rate": ("rate {} {count} of 6", "give {} {count} stars", "{} gets {count} points"),
    "find work": (
        "find the {kind} {}",
        "show me {}",
        "find {}",
        "i want to see {}",
        "play the {kind} called {}",
    ),
    "find screening": (
        "when is {} at {place}",
        "find {} at {place}",
        "i want to see {} at {place}",
        "show me {} {time}",
        "is {} in {city}",
    ),
}
BEFORE = ("", "", "", "please ", "can you ", "hey ", "could you ")
AFTER = ("", "", "", " please", " now", " thanks")


def bench_commands(report: Report, embedder: Embedder, profiles: Sequence[str]) -> None:
    """Report the accuracy of a training without options, and of TF-IDF with a linear SVM."""
    del profiles
    dice = random.Random(SEED)
    for name, count in (("commands_train", TRAINED), ("commands_test", ASKED)):
        rows = [(_command(label, dice), label) for label in PATTERNS for _ in range(count)]
        embedder.own[name] = [text for text, _ in rows], [label for _, label in rows]
    chosen = chosen_profile(embedder, "commands_train", "en_US")
    say(f"commands: {'+'.join(chosen.encoders)}. {chosen.reason}")
    model, _ = train(embedder, "commands_train", chosen.encoders)
    found = accuracy(model, embedder.read("commands_test", chosen.encoders))
    texts, truth = embedder.rows("commands_test")
    svm = right(peers.tfidf_svm(*embedder.rows("commands_train"), texts), truth)
    name = f"generated commands, default ({'+'.join(chosen.encoders)}): accuracy"
    peer = ("TF-IDF + SVM", svm)
    report.add(name, found.value, "", Bar(svm), peer, found.interval)


def _command(label: str, dice: random.Random) -> str:
    pattern = dice.choice(PATTERNS[label])
    filled = {name: dice.choice(values) for name, values in FILLED.items()}
    names = [_name(dice) for _ in range(pattern.count("{}"))]
    return f"{dice.choice(BEFORE)}{pattern.format(*names, **filled)}{dice.choice(AFTER)}"


def _name(dice: random.Random) -> str:
    """Return a name of one to three invented words."""
    return " ".join(
        "".join(dice.choices(LETTERS, k=dice.randint(3, 8))) for _ in range(dice.randint(1, 3))
    )
