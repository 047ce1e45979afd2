"""The prebuilt sentiment model: its data, its head, and the one installed."""

import hashlib
import io
import json
import tarfile

import numpy as np
import pytest
from tokenizers import Tokenizer

from bench.sentiment.packages import CLEAR_SENTENCES, VADER
from bench.sentiment.ratings import (
    LABELS,
    RatedSentence,
    label_index,
    read_clear_sentences,
    read_sentences,
)
from bench.sentiment.sentences import CLEAR_SOURCES, own_sentences, split_sentences
from chalicelib.engines.text import classifier
from chalicelib.engines.text.encoding.encoders import load_encoder
from infra.downloads.errors import BrokenFile
from infra.model_files import sentiment_head
from infra.model_files.description import Conversion, WrongOutputs
from infra.model_files.manifest import MODELS
from infra.model_files.prebuilt import sentiment_model
from infra.model_files.sentiment_head import WORDS, SentimentHead, dump_head, read_head
from infra.models import default_directory

MODEL = MODELS["CommunitySentiment"]
ENCODER = MODELS["bge-sentiment"]
LARGEST_BYTES = 20_000
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


# Written before the sentences of the project that are like them.
HARSH = {
    "business news": (
        "Quarterly earnings slumped to 3.1 million from 5.6 million a year ago",
        "Shares of the brewer tumbled nine percent after the announcement",
        "The airline booked a pretax loss of EUR 41 million",
        "Orders at the machine builder shrank for the third quarter running",
        "The retailer cut its forecast for the full year",
        "Net sales went down 12 percent to 88 million euros",
        "The group will lay off 300 people at its Finnish sites",
        "Operating margin narrowed to 4.2 % from 7.9 %",
        "Weak demand in Asia weighed on the results",
        "The carmaker recalls 90,000 vehicles over faulty brakes",
        "The bank was fined 20 million dollars for money laundering",
        "Analysts downgraded the stock to sell",
        "The start-up filed for insolvency on Thursday",
        "The merger collapsed after regulators objected",
        "The company missed market expectations by a wide margin",
    ),
    "complaints": (
        "@skyways my bag is still in Denver and no one picks up the phone",
        "@skyways flight 402 delayed again, third time this month",
        "sat on the tarmac for two hours, no water, no information @skyways",
        "@mobilefirst no signal since this morning, what am I paying for?",
        "your app keeps logging me out, fix it @bankly",
        "@bankly you blocked my card while I'm abroad. thanks for nothing",
        "@parcelnow driver left my parcel in the rain",
        "@skyways cancelled my flight and can't rebook me until Thursday",
        "been on hold for 55 mins @skyways is anyone there??",
        "so now they charge for carry-on bags too. unbelievable",
        "lost all my respect for that team tonight",
        "the government just doesn't care about us",
        "this new season is so boring I fell asleep",
        "@skyways your gate agent was rude to my mother",
        "can't believe they fired him, what a disgrace",
        "ugh the traffic on 95 is a nightmare",
        "@netco internet down AGAIN #fail",
        "I miss the old version, this one is a mess",
        "@skyways DM'd you twice, no reply",
        "missed my connection because of you @skyways and now I sleep on the floor",
    ),
}
GAINS = (
    "Quarterly earnings climbed to 5.6 million from 3.1 million a year ago",
    "Shares of the brewer surged nine percent after the announcement",
    "The airline swung to a pretax profit of EUR 41 million",
    "Orders at the machine builder grew for the third quarter running",
    "The retailer raised its forecast for the full year",
    "Net sales went up 12 percent to 88 million euros",
    "The group will hire 300 people at its Finnish sites",
    "Operating margin widened to 7.9 % from 4.2 %",
    "Strong demand in Asia lifted the results",
    "The firm won a contract worth 90 million euros",
    "The bank returned to profit after two lean years",
    "Analysts upgraded the stock to buy",
    "The start-up raised 12 million dollars from investors",
    "Cost savings were larger than planned",
    "The company beat market expectations by a wide margin",
)


def make_ratings(folder, lines, spreads=()):
    """Pack rating lines by source as VADER's authors did."""
    path = folder / "ratings.tar.gz"
    files = {f"{name}_GroundTruth.txt": lines.get(name, []) for name in FILES}
    files |= {f"{name}_anonDataRatings.txt": list(spreads) for name in FILES}
    with tarfile.open(path, "w:gz") as packed:
        for name, content in files.items():
            data = "\n".join(content).encode()
            facts = tarfile.TarInfo(f"hutto_ICWSM_2014/{name}")
            facts.size = len(data)
            packed.addfile(facts, io.BytesIO(data))
    return path


@pytest.mark.parametrize(
    ("rating", "label"),
    [(0.81, 0), (3.2, 0), (-0.81, 1), (0.8, 2), (-0.8, 2), (0.0, 2)],
)
def test_label_index_follows_the_mean_rating(rating, label):
    """The middle fifth of the rating scale is neutral; the rest is positive or negative."""
    assert label_index(rating) == label


def test_shares_follow_the_disagreement_of_raters():
    """Soft labels become more even the more the raters disagree."""
    border = RatedSentence("so so", "tweets", 0.8, 1.0).label_fractions
    clear = RatedSentence("great", "tweets", 3.0, 0.6).label_fractions
    disputed = RatedSentence("great?", "tweets", 3.0, 3.0).label_fractions

    assert border[0] == pytest.approx(0.5)
    assert clear[0] > 0.99 > disputed[0] > 0.8
    for shares in (border, clear, disputed):
        assert sum(shares) == pytest.approx(1.0)
        assert min(shares) >= 0.0


def test_read_sentences_cleans_and_drops(tmp_path):
    """Entities are decoded; broken lines, duplicates and test sentences are dropped."""
    path = make_ratings(
        tmp_path,
        {
            "tweets": ["1\t2.0\tthis &amp; that", "broken line", "2\t-2.0\tbad"],
            "movieReviewSnippets": ["1517\t2.0\ttest", "1518\t0.1\ttraining", "6603\t2.0\ttest"],
            "amazonReviewSnippets": ["1_1\t-2.0\tthis & that"],
        },
        ["2\t-2.0\t0.75\t[-2, -2]", "broken line"],
    )

    assert read_sentences(path) == [
        RatedSentence("this & that", "tweets", 2.0, 0.0),
        RatedSentence("bad", "tweets", -2.0, 0.75),
        RatedSentence("training", "movieReviewSnippets", 0.1, 0.0),
    ]


def test_split_holds_out_a_tenth_of_the_ratings(tmp_path):
    """Held-out sentences depend on their text alone and are not trained on."""
    make_ratings(tmp_path, {"tweets": [f"{n}\t2.0\tgood {n}" for n in range(500)]})
    for name in CLEAR_SOURCES:
        rows = [{"text": " so  bad ", "class": 0}, {"text": "", "class": None}]
        (tmp_path / name).write_text(json.dumps([*rows, {"text": "good 7", "class": 1}]))

    split = split_sentences(tmp_path)

    assert len(split.training) + len(split.held) == 500
    assert split.own == own_sentences()
    assert 30 < len(split.held) < 80
    assert not set(split.training) & set(split.held)
    assert {sentence.text for sentence in split.clear} == {"so bad"}
    assert {sentence.source for sentence in split.clear} == set(CLEAR_SOURCES.values())
    assert split.trained == [*split.training, *split.clear, *split.own]
    assert split == split_sentences(tmp_path)


def test_clear_sentences_are_clear_and_of_two_kinds(tmp_path):
    """Who called a sentence clearly positive leaves little to the other labels."""
    path = tmp_path / "sentences.json"
    path.write_text(json.dumps([{"text": "fine  food", "class": 1}, {"text": "bad", "class": 0}]))

    found = read_clear_sentences(path, "restaurants")

    assert [(each.text, each.label) for each in found] == [("fine food", 0), ("bad", 1)]
    for place, each in enumerate(found):
        assert 0.95 < each.label_fractions[place] < 1.0


def test_own_sentences_are_of_three_kinds_and_not_the_ones_tested_here():
    """Patterns are expanded without duplicates or sentences that are tested below."""
    texts = [sentence.text for sentence in own_sentences()]

    assert {sentence.label for sentence in own_sentences()} == {0, 1, 2}
    assert all(-4 <= sentence.mean <= 4 for sentence in own_sentences())
    assert len({text.casefold() for text in texts}) == len(texts)
    assert not any("{" in text or text != text.strip() for text in texts)
    tested = {
        *GAINS,
        *(text for part in (SENTENCES, HARSH) for some in part.values() for text in some),
    }
    assert not tested & set(texts)


def test_read_head_refuses_what_is_not_the_measured_file(tmp_path):
    """A damaged, missing or different head stops the installation with a remedy."""
    path, figures = tmp_path / "head.npz", tmp_path / "figures.json"
    head = SentimentHead(np.ones((2, 3), np.float32), np.zeros(3, np.float32))
    content = dump_head(head)
    figures.write_text(json.dumps({"sha256": hashlib.sha256(content).hexdigest()}))
    path.write_bytes(content)

    assert read_head(path, figures).weights.tolist() == head.weights.tolist()
    path.write_bytes(dump_head(SentimentHead(2 * head.weights, head.biases)))
    with pytest.raises(BrokenFile, match="Check the project out again"):
        read_head(path, figures)
    path.write_bytes(content[:100])
    with pytest.raises(BrokenFile, match="cannot be read"):
        read_head(path, figures)
    figures.unlink()
    with pytest.raises(BrokenFile, match="cannot be read"):
        read_head(path, figures)


def test_committed_head_is_small_and_the_one_measured():
    """What is committed stays below its bar and is the file that the figures belong to."""
    assert sentiment_head.HEAD_FILE.stat().st_size < LARGEST_BYTES
    assert read_head().weights.shape == (ENCODER.dimensions, len(LABELS))


def test_committed_figures_of_sources_left_out_hold():
    """A new fit must not lower the committed figures on held-out sources."""
    left = sentiment_head.read_figures()["leftOut"]

    assert set(left) == set(FILES)
    for source, found in left.items():
        assert found["calibrationError"] <= 0.05, source
        assert found["macroRecall"] >= 0.59, source


def test_tokeniser_reads_emoji_as_words():
    """Emoji become words, whatever their skin tone; other tokenizers are unchanged."""
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
    """At least eight of ten sentences of each sentiment are recognized."""
    found = answers(installed_model, SENTENCES[label])

    assert found.count(label) >= 8, list(zip(SENTENCES[label], found, strict=True))


@pytest.mark.parametrize("kind", HARSH)
def test_installed_sentiment_finds_bad_news_and_complaints(installed_model, kind):
    """Complaints and bad news are not classified as neutral."""
    found = answers(installed_model, HARSH[kind])

    assert found.count("negative") >= 0.85 * len(found), list(zip(HARSH[kind], found, strict=True))
    gains = answers(installed_model, GAINS)
    assert gains.count("positive") > gains.count("neutral") > gains.count("negative")


@pytest.mark.parametrize("text", ["", "\ud800", "你好" * 3_000, "\u202e\u200b", "a" * 50_000])
def test_installed_sentiment_answers_anything(installed_model, text):
    """Empty texts, lone surrogates, other scripts and long texts get a valid answer."""
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


@pytest.mark.parametrize("package", [VADER, CLEAR_SENTENCES], ids=lambda each: each.package)
def test_card_names_the_packages_of_the_training_data(package):
    """The card names the packages that the head was fitted on, with version and licence."""
    trained_on = json.loads((default_directory() / MODEL.folder / "card.json").read_text())[
        "trainedOn"
    ]

    assert f"{package.package} {package.version}: " in trained_on["source"]
    assert package.licence in trained_on["licence"].split("; ")


def test_building_again_gives_the_same_model(tmp_path):
    """Every installation has the same bytes of encoder, artifact, card and metrics."""
    encoder, model = tmp_path / ENCODER.name, tmp_path / "model"
    encoder.mkdir()
    model.mkdir()
    sentiment_model.build_encoder(
        Conversion(ENCODER, default_directory(), tmp_path, encoder, print)
    )
    sentiment_model.build(Conversion(MODEL, default_directory(), tmp_path, model, print))

    for made, folder in ((encoder, ENCODER.folder), (model, MODEL.folder)):
        for path in made.iterdir():
            known = default_directory() / folder / path.name
            assert path.read_bytes() == known.read_bytes(), path.name


def test_wrong_answers_stop_the_installation(installed_model):
    """An encoder whose answers differ from the references is not installed."""
    model, encoder = installed_model
    figures = sentiment_head.read_figures()
    wrong = json.loads(json.dumps(figures))
    wrong["references"]["probabilities"][0] = [0.0, 0.0, 1.0]

    sentiment_model.check_answers(model, encoder, figures)
    with pytest.raises(WrongOutputs, match=r"requirements\.txt"):
        sentiment_model.check_answers(model, encoder, wrong)
