"""The prebuilt sentiment model: its data, its fine-tuned layers, and the one installed."""

import hashlib
import io
import json
import tarfile

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tokenizers import Tokenizer

from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoding.encoders import load_encoder
from infra.finetuning.sentences import own_sentences, split_sentences
from infra.model_files import tuned_encoder
from infra.model_files.emoji import WORDS
from infra.model_files.errors import BrokenFile, WrongOutputs
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt import sentiment_model
from infra.model_files.prebuilt.sentiment_data import LABELS, label_index, read_sentences
from infra.model_files.tuned_encoder import TunedLayers, compose, dump_layers, read_layers
from infra.models import default_directory

MODEL = MODELS["CommunitySentiment"]
ENCODER = MODELS["minilm-sentiment"]
LARGEST_BYTES = 8_000_000
FILES = (
    "tweets", "movieReviewSnippets", "amazonReviewSnippets", "nytEditorialSnippets"
)  # fmt: skip
SENTENCES = {
    "positive": (
        "What a wonderful, moving film!",
        "I love this",
        "Thanks a lot, that was quick and friendly",
        "best pizza I have had in years",
        "Not bad at all, I would come again",
        "The nurse was so kind to my grandfather",
        "👍",
        "Finally an update that makes it faster",
        "great 😍",
        "I couldn't be happier with the result",
    ),
    "negative": (
        "Terrible service, I want my money back.",
        "this is terrible",
        "I am not happy with it",
        "The screen cracked after two days and nobody answers",
        "worst holiday ever",
        "It doesn't do what it says",
        "😡",
        "Boring, far too long and badly acted",
        "They lost my suitcase again",
        "I don't like the new design",
    ),
    "neutral": (
        "The meeting takes place on Tuesday at ten.",
        "the package arrived on Tuesday",
        "How do I change my address?",
        "There are twelve eggs in a box.",
        "We moved the table to the other room",
        "Is this available in blue?",
        "The number of the house is 14",
        "I will call you back on Friday",
        "He reads the newspaper in the morning.",
        "Which bus goes to the station?",
    ),
}


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


def test_split_holds_out_a_tenth_of_the_ratings(tmp_path):
    """Which sentences are held out depends on them alone; none of them is learnt from."""
    path = make_ratings(tmp_path, {"tweets": [f"{n}\t2.0\tgood {n}" for n in range(500)]})

    split = split_sentences(path)

    assert len(split.training) + len(split.held) == 500 + len(own_sentences())
    assert 30 < len(split.held) < 80
    assert not set(split.training) & set(split.held)
    assert split == split_sentences(path)


def test_own_sentences_are_of_three_kinds_and_not_the_ones_tested_here():
    """Patterns are filled, no sentence stands twice, and no floor below was learnt by heart."""
    texts = [text for text, _ in own_sentences()]

    assert {label for _, label in own_sentences()} == {0, 1, 2}
    assert len({text.casefold() for text in texts}) == len(texts)
    assert not any("{" in text for text in texts)
    tested = {text for group in SENTENCES.values() for text in group}
    assert not tested & set(texts)


def make_encoder(folder):
    """Write a tiny graph with one constant, and a tokeniser."""
    folder.mkdir()
    weight = numpy_helper.from_array(np.array([1, 2], np.int8), "weight")
    value = helper.make_tensor_value_info("x", onnx.TensorProto.INT8, [2])
    outcome = helper.make_tensor_value_info("y", onnx.TensorProto.INT8, [2])
    node = helper.make_node("Add", ["x", "weight"], ["y"])
    graph = helper.make_graph([node], "tiny", [value], [outcome], [weight])
    onnx.save(helper.make_model(graph), str(folder / "model.onnx"))
    (folder / "tokenizer.json").write_text('{"normalizer": null}')
    return folder


def layers_of(**constants):
    """Return layers with these constants and an empty head."""
    return TunedLayers(constants, np.zeros((1, 3), np.float32), np.zeros(3, np.float32))


def test_compose_replaces_constants_and_nothing_else(tmp_path):
    """The tuned constant stands in place of the encoder's own, twice with the same bytes."""
    base = make_encoder(tmp_path / "base")
    layers = layers_of(weight=np.array([7, 8], np.int8))
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        compose(base, layers, tmp_path / name)
        made.append((tmp_path / name / "model.onnx").read_bytes())

    graph = onnx.load_from_string(made[0]).graph
    assert made[0] == made[1]
    assert numpy_helper.to_array(graph.initializer[0]).tolist() == [7, 8]
    assert [node.op_type for node in graph.node] == ["Add"]


@pytest.mark.parametrize(
    "layers",
    [
        layers_of(other=np.array([1, 2], np.int8)),
        layers_of(weight=np.array([1, 2], np.float32)),
        layers_of(weight=np.array([1, 2, 3], np.int8)),
    ],
    ids=["unknown", "type", "shape"],
)
def test_compose_refuses_another_encoder(tmp_path, layers):
    """Layers tuned on another graph are not put into this one."""
    base = make_encoder(tmp_path / "base")

    with pytest.raises(BrokenFile, match="tuned"):
        compose(base, layers, tmp_path)


def test_read_layers_refuses_what_is_not_the_measured_file(tmp_path):
    """A damaged, missing or exchanged file of layers stops the installation with a remedy."""
    path, figures = tmp_path / "layers.npz", tmp_path / "figures.json"
    content = dump_layers(layers_of(weight=np.array([7, 8], np.int8)))
    figures.write_text(json.dumps({"sha256": hashlib.sha256(content).hexdigest()}))
    path.write_bytes(content)

    assert read_layers(path, figures).constants["weight"].tolist() == [7, 8]
    path.write_bytes(dump_layers(layers_of(weight=np.array([7, 9], np.int8))))
    with pytest.raises(BrokenFile, match="Check the project out again"):
        read_layers(path, figures)
    path.write_bytes(content[:100])
    with pytest.raises(BrokenFile, match="cannot be read"):
        read_layers(path, figures)
    figures.unlink()
    with pytest.raises(BrokenFile, match="cannot be read"):
        read_layers(path, figures)


def test_committed_layers_are_small_and_those_measured():
    """What is committed stays below its bar and is the file that the figures belong to."""
    assert tuned_encoder.LAYERS_FILE.stat().st_size < LARGEST_BYTES
    assert read_layers().head.shape == (ENCODER.dimensions, len(LABELS))


def test_tokeniser_reads_emoji_as_words():
    """A sign becomes its words, whatever its colour; another encoder's tokeniser stays."""
    tokenizer = Tokenizer.from_file(str(default_directory() / ENCODER.folder / "tokenizer.json"))
    tokenizer.no_padding()

    assert tokenizer.encode("nice👍🏽!").tokens[1:-1] == ["nice", "great", "!"]
    assert tokenizer.encode("❤️").tokens[1:-1] == ["love"]
    for sign, words in WORDS.items():
        assert tokenizer.encode(sign).tokens[1:-1] == words.split()


@pytest.fixture(scope="module")
def installed_model():
    """The installed model and its encoder."""
    model = classifier.load((default_directory() / MODEL.folder / "artifact.npz").read_bytes())
    return model, load_encoder(default_directory(), model.encoders[0].name)


def answers(installed_model, texts):
    """Return the most probable labels."""
    model, encoder = installed_model
    shares = model.predict({encoder.name: encoder.encode(texts)})
    return [model.labels[place] for place in np.argmax(shares, axis=1)]


@pytest.mark.parametrize("label", LABELS)
def test_installed_sentiment_knows_plain_sentences(installed_model, label):
    """At least eight of ten sentences of each kind: negations, emoji, short ones among them."""
    found = answers(installed_model, SENTENCES[label])

    assert found.count(label) >= 8, list(zip(SENTENCES[label], found, strict=True))


@pytest.mark.parametrize("text", ["", "\ud800", "你好" * 3_000, "\u202e\u200b", "a" * 50_000])
def test_installed_sentiment_answers_anything(installed_model, text):
    """Nothing, lone surrogates, other scripts and long texts have an answer that sums to one."""
    model, encoder = installed_model

    shares = model.predict({encoder.name: encoder.encode([text])})

    assert np.isfinite(shares).all()
    assert shares.sum() == pytest.approx(1, abs=1e-5)


def test_installed_sentiment_was_fitted_on_the_installed_encoder(installed_model):
    """Artifact, encoder and card belong together."""
    model, encoder = installed_model
    folder = default_directory() / MODEL.folder
    card = json.loads((folder / "card.json").read_text())
    metrics = json.loads((folder / "metrics.json").read_text())["metricsData"]

    assert [use.sha256 for use in model.encoders] == [encoder.sha256]
    assert card["engine"]["encoders"][0]["sha256"] == encoder.sha256
    assert metrics["labels"] == list(LABELS)
    assert metrics["testAccuracy"] == pytest.approx(
        card["metrics"]["testAccuracy"]["value"], abs=1e-6
    )


def test_building_again_gives_the_same_model(tmp_path):
    """Whoever installs gets the same bytes of encoder, artifact, card and metrics."""
    encoder, model = tmp_path / ENCODER.name, tmp_path / "model"
    encoder.mkdir()
    model.mkdir()
    sentiment_model.build_encoder(ENCODER, default_directory(), encoder, lambda _: None)
    sentiment_model.build(MODEL, default_directory(), model)

    for made, folder in ((encoder, ENCODER.folder), (model, MODEL.folder)):
        for path in made.iterdir():
            known = default_directory() / folder / path.name
            assert path.read_bytes() == known.read_bytes(), path.name


def test_wrong_answers_stop_the_installation(installed_model):
    """An encoder that answers otherwise than the references is not installed."""
    model, encoder = installed_model
    figures = tuned_encoder.read_figures()
    wrong = json.loads(json.dumps(figures))
    wrong["references"]["probabilities"][0] = [0.0, 0.0, 1.0]

    sentiment_model.check_answers(model, encoder, figures)
    with pytest.raises(WrongOutputs, match=r"requirements\.txt"):
        sentiment_model.check_answers(model, encoder, wrong)
