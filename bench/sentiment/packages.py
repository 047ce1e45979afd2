"""Lists the packages with the training data of CommunitySentiment.

Only the fitted head is stored in this repository. NOTICE and the model's card also name the
packages. Tests compare the lists.
"""

from __future__ import annotations

from infra.downloads.packages import PackageFile, Registry, Source

VADER = Source(
    package="vaderSentiment",
    version="3.3.2",
    file="vaderSentiment-3.3.2.tar.gz",
    sha256="5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9",
    archive_bytes=2_466_783,
    members={
        "ratings.tar.gz": PackageFile(
            "vaderSentiment-3.3.2/additional_resources/hutto_ICWSM_2014.tar.gz",
            "d5bb07d87474b3eb8d30b4deccbc23f19d742a6c5718fbacc65485b70b95c5fa",
        ),
    },
    licence="MIT",
    credit="Copyright (c) 2016 C.J. Hutto",
    upstream="hutto_ICWSM_2014.tar.gz of the project cjhutto/vaderSentiment on GitHub",
)

CLEAR_SENTENCES = Source(
    package="sentiment",
    version="5.0.2",
    file="sentiment-5.0.2.tgz",
    sha256="89302eb03d2005d03b214fe65814bb48adb7d3c42c8ca80bdee6a3ecb7e4480f",
    archive_bytes=141_649,
    members={
        "amazon.json": PackageFile(
            "package/test/fixtures/amazon.json",
            "bc5eb0cac49fc45987301f1dc2d02cf5ca356ba6c882be179dce77d74e666ed9",
        ),
        "imdb.json": PackageFile(
            "package/test/fixtures/imdb.json",
            "44a7b9082ed732ee2de3c858ea5ee2e99aca34f239a1c4359d3a300bf099bdb5",
        ),
        "yelp.json": PackageFile(
            "package/test/fixtures/yelp.json",
            "9f3f47983f21eeb819380767b74bfa648eca208f156241111454b3e122773ff7",
        ),
    },
    licence="CC-BY-4.0",
    credit="Dimitrios Kotzias, Misha Denil, Nando de Freitas, Padhraic Smyth; package under the "
    "MIT License, Copyright (c) 2016 Andrew Sliwinski",
    upstream="Sentiment Labelled Sentences of the UCI Machine Learning Repository",
    registry=Registry.NODE,
)
