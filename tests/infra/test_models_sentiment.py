"""The prebuilt sentiment model: its data, how it is built, and the one that is installed."""

import hashlib
import io
import json
import tarfile

import numpy as np
import pytest

from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoders import load_encoder
from infra.model_files import prebuilt
from infra.model_files.manifest import MODELS
from infra.model_files.sentiment_data import LABELS, label_index, read_sentences
from infra.models import default_directory

MODEL = MODELS["CommunitySentiment"]
FILES = (
    "tweets", "movieReviewSnippets", "amazonReviewSnippets", "nytEditorialSnippets"
)  # fmt: skip
KINDS = {
    1.5: ("love", "adore", "enjoy", "admire", "praise"),
    -1.5: ("hate", "despise", "regret", "loathe", "detest"),
    0.0: ("own", "use", "have", "carry", "mention"),
}
THINGS = ("film", "camera", "phone", "book", "train", "hotel", "song", "game", "coat", "shop")


def make_ratings(folder, lines):
    """Pack rating lines by source as VADER's authors did."""
    path = folder / "ratings.tar.gz"
    with tarfile.open(path, "w:gz") as packed:
        for name in FILES:
            content = "\n".join(lines.get(name, [])).encode()
            facts = tarfile.TarInfo(f"hutto_ICWSM_2014/{name}_GroundTruth.txt")
            facts.size = len(content)
            packed.addfile(facts, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("rating", "label"),
    [(0.7, 0), (3.2, 0), (-0.7, 1), (0.4, 2), (-0.4, 2), (0.0, 2), (0.5, None), (-0.69, None)],
)
def test_label_index_follows_the_mean_rating(rating, label):
    """Clear ratings are positive or negative, those near zero neutral, others left out."""
    assert label_index(rating) == label


def test_read_sentences_cleans_and_drops(tmp_path):
    """Entities are read, broken lines, doubles and the treebank's test sentences left out."""
    path = make_ratings(
        tmp_path,
        {
            "tweets": ["1\t2.0\tthis &amp; that", "broken line", "2\t-2.0\tbad", "3\t0.5\tso so"],
            "movieReviewSnippets": ["1517\t2.0\ttest", "1518\t0.1\ttraining", "6603\t2.0\ttest"],
            "amazonReviewSnippets": ["1_1\t-2.0\tthis & that"],
        },
    )

    assert read_sentences(path) == [("this & that", 0), ("bad", 1), ("training", 2)]


def test_read_sentences_takes_as_many_of_each_label(tmp_path):
    """The most frequent labels are cut, the same way each time."""
    lines = [f"{n}\t2.0\tgood {n}" for n in range(9)] + ["10\t-2.0\tbad"]
    path = make_ratings(tmp_path, {"tweets": lines})

    chosen = read_sentences(path, most=3)

    assert [label for _, label in chosen] == [0, 0, 0, 1]
    assert chosen == read_sentences(path, most=3)


def test_build_writes_artifact_card_and_metrics(tmp_path):
    """A small set of ratings becomes a model, whose card names data, encoders and digest."""
    sentences = [
        f"{number}\t{rating}\tI {verb} this {thing}"
        for rating, verbs in KINDS.items()
        for number, (verb, thing) in enumerate((v, t) for v in verbs for t in THINGS)
    ]
    make_ratings(tmp_path, {"tweets": sentences})
    result = tmp_path / "result"
    result.mkdir()

    prebuilt.build(MODEL, default_directory(), tmp_path, result, lambda _: None)

    artifact = (result / "artifact.npz").read_bytes()
    card = json.loads((result / "card.json").read_text())
    assert card["artifactSha256"] == hashlib.sha256(artifact).hexdigest()
    assert card["trainedOn"]["examples"] == len(sentences)
    assert [len(use["sha256"]) for use in card["engine"]["encoders"]] == [64, 64]
    metrics = json.loads((result / "metrics.json").read_text())
    assert metrics["metricsData"]["labels"] == list(LABELS)
    assert metrics["metricsData"]["testAccuracy"] > 0.8
    assert classifier.load(artifact).labels == LABELS


def test_installed_sentiment_knows_clear_sentences():
    """The model that make run installs tells praise from blame and from plain facts."""
    folder = default_directory() / MODEL.folder
    model = classifier.load((folder / "artifact.npz").read_bytes())
    sentences = [
        "What a wonderful, moving film!",
        "Terrible service, I want my money back.",
        "The meeting takes place on Tuesday at ten.",
    ]

    encoders = [load_encoder(default_directory(), use.name) for use in model.encoders]
    shares = model.predict({encoder.name: encoder.encode(sentences) for encoder in encoders})

    assert [model.labels[place] for place in np.argmax(shares, axis=1)] == list(LABELS)


def test_installed_sentiment_was_fitted_on_the_installed_encoders():
    """Artifact and encoders belong together."""
    folder = default_directory() / MODEL.folder
    model = classifier.load((folder / "artifact.npz").read_bytes())

    for use in model.encoders:
        assert use.sha256 == load_encoder(default_directory(), use.name).sha256
