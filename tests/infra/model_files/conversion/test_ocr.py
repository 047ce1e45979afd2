"""The networks that read text and tables: how they are cut, checked and described."""

import hashlib
import json

import msgspec
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from chalicelib.domain.documents.characters import (
    CHARACTERS,
    LATIN_CHARACTERS,
    LATIN_LETTERS,
    LATIN_SIGNS,
    to_documented,
)
from chalicelib.domain.models.model import OCR, PREBUILT
from chalicelib.engines.ocr.pool import OcrPool
from chalicelib.web.records.model_records import CardRecord
from infra.downloads.errors import BrokenFile
from infra.model_files.conversion import convert_ppocr, convert_slanet
from infra.model_files.description import WrongOutputs
from infra.model_files.manifest import FAST, MODELS
from infra.model_files.prebuilt import ocr_models
from infra.model_files.verification import ocr_references
from infra.models import default_directory

DIRECTORY = default_directory()
GRAPHS = ("ppocr/detector.onnx", "ppocr/recogniser.onnx", "slanet/model.onnx")
DIGESTS = ["bf549718", "00904cf2", "410f7fe8"]
CARDS = [name for name, kind in PREBUILT.items() if kind == OCR]
BEYOND = [*LATIN_LETTERS, *LATIN_SIGNS]
CLASSES = ["", "漢", *BEYOND, *CHARACTERS[:-1], "☃", "Ａ", "ě", " "]
"""Classes of a tiny recogniser: an ideograph, all letters of both sets, another sign, look-alikes
of both and of the larger set."""


def tiny_recogniser(classes=CLASSES):
    """Make a recogniser whose last layer is random: its input is taken as it is."""
    random = np.random.default_rng(5)
    weight = random.normal(size=(8, len(classes))).astype(np.float32)
    bias = random.normal(size=len(classes)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "linear_8.w_0"], ["product"]),
        helper.make_node("Add", ["product", "linear_8.b_0"], ["sum"]),
        helper.make_node("Softmax", ["sum"], ["fetch_name_0"], axis=2),
    ]
    graph = helper.make_graph(
        nodes,
        "recogniser",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "t", 8])],
        [
            helper.make_tensor_value_info(
                "fetch_name_0", TensorProto.FLOAT, ["n", "t", len(classes)]
            )
        ],
        [
            numpy_helper.from_array(weight, "linear_8.w_0"),
            numpy_helper.from_array(bias, "linear_8.b_0"),
        ],
    )
    opset = [helper.make_opsetid("", 11)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    helper.set_model_props(model, {"character": "\n".join(classes[1:-1])})
    return model


def run(model, values, name="fetch_name_0"):
    """Return one output of a graph."""
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run([name], {"x": values})[0]


def test_the_cut_recogniser_answers_with_documented_characters():
    """The cut recognizer merges look-alike characters and keeps ratios of the others."""
    model = tiny_recogniser()
    values = np.random.default_rng(1).normal(size=(2, 5, 8)).astype(np.float32)
    whole = run(model, values).astype(np.float64)

    convert_ppocr.cut_recogniser(model)
    answer = run(model, values)

    without_ideographs = whole / (1 - whole[..., 1:2])
    alphabet = convert_ppocr.alphabet()
    expected = np.stack(
        [without_ideographs[..., CLASSES.index(name)] for name in alphabet], axis=-1
    )
    dropped = without_ideographs[..., CLASSES.index("☃")].copy()
    for other in (*BEYOND, "Ａ", "ě"):
        share, name = without_ideographs[..., CLASSES.index(other)], to_documented(other)
        if len(name) == 1:
            expected[..., alphabet.index(name)] += share
        else:
            dropped += share
    assert answer.shape == (2, 5, 124)
    assert np.abs(answer - expected).max() < 1e-6
    assert np.abs(1 - answer.sum(axis=-1) - dropped).max() < 1e-6


def test_the_second_output_answers_with_accented_letters():
    """They keep their own columns, look-alikes are added to plain ones, other signs are dropped."""
    model = tiny_recogniser()
    values = np.random.default_rng(1).normal(size=(2, 5, 8)).astype(np.float32)
    whole = run(model, values).astype(np.float64)

    convert_ppocr.cut_recogniser(model)
    answer = run(model, values, "latin")

    alphabet = convert_ppocr.latin_alphabet()
    share = whole / (1 - whole[..., 1:2])
    expected = np.stack([share[..., CLASSES.index(name)] for name in alphabet], axis=-1)
    expected[..., alphabet.index("A")] += share[..., CLASSES.index("Ａ")]
    expected[..., alphabet.index("e")] += share[..., CLASSES.index("ě")]
    assert answer.shape == (2, 5, 210)
    assert np.abs(answer - expected).max() < 1e-6


def test_no_number_of_a_kept_column_changes():
    """The columns of the last layer are the source's, bit for bit."""
    model = tiny_recogniser()
    before = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    cut = convert_ppocr.choose(CLASSES)

    convert_ppocr.cut_recogniser(model)

    after = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name in ("linear_8.w_0", "linear_8.b_0"):
        assert (after[name] == before[name][..., cut.classes]).all()
    assert [CLASSES[place] for place in cut.classes[:124]] == convert_ppocr.alphabet()
    rest = [CLASSES[place] for place in cut.classes[124:]]
    assert sorted(rest) == sorted([*BEYOND, "Ａ", "ě", "☃"])
    assert len(cut.folding) == 124 + sum(len(to_documented(name)) == 1 for name in rest)


def test_other_recognisers_are_refused():
    """A recognizer that lacks a character, or ends in another layer, is refused."""
    with pytest.raises(BrokenFile, match="does not know £ ≈"):
        convert_ppocr.choose([name for name in CLASSES if name not in "£≈" or not name])
    model = tiny_recogniser()
    model.graph.node[-1].op_type = "LogSoftmax"
    with pytest.raises(BrokenFile, match="does not end with the softmax"):
        convert_ppocr.cut_recogniser(model)


def test_installed_alphabets_are_the_documented_ones():
    """Blank first, space last, the characters between: one for each column of an output."""
    graph = onnx.load(str(DIRECTORY / "ppocr" / "recogniser.onnx"), load_external_data=False).graph

    wanted = {"alphabet.json": CHARACTERS, "latin.json": LATIN_CHARACTERS}
    for output, (file, characters) in zip(graph.output, wanted.items(), strict=True):
        alphabet = json.loads((DIRECTORY / "ppocr" / file).read_text())
        assert alphabet == ["", *characters]
        assert output.type.tensor_type.shape.dim[2].dim_value == len(alphabet)


@pytest.mark.parametrize("name", GRAPHS)
def test_installed_graphs_give_the_reference_outputs(name):
    """The model directory contains the networks, digests and facts included."""
    folder = DIRECTORY / name.split("/")[0]
    facts = json.loads((folder / "engine.json").read_text())

    ocr_references.check_model(DIRECTORY / name, name)

    assert set(facts["files"]) == {
        path.name for path in folder.iterdir() if path.name not in ("engine.json", "installed.json")
    }
    for file, known in facts["files"].items():
        content = (folder / file).read_bytes()
        assert known == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    assert (facts["name"], facts["title"]) == (folder.name, MODELS[folder.name].title)
    assert facts["licence"] == "Apache-2.0"


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("change", [1.01, np.nan])
def test_wrong_outputs_stop_the_installation(name, change):
    """A graph whose outputs differ by a hundredth, or are not numbers, is refused."""
    outputs = ocr_references.run(DIRECTORY / name, name)
    ocr_references.check_outputs(name, outputs)
    last = [output for output in outputs if output != "latin"][-1]

    with pytest.raises(WrongOutputs, match=last):
        ocr_references.check_outputs(name, outputs | {last: outputs[last] * np.float32(change)})
    with pytest.raises(WrongOutputs, match=last):
        ocr_references.check_outputs(name, outputs | {last: outputs[last].reshape(-1)[:99]})


def test_a_recogniser_cut_otherwise_is_refused(tmp_path, monkeypatch):
    """A cut graph that differs from the whole one is refused."""
    whole, cut = tiny_recogniser(), tiny_recogniser()
    convert_ppocr.cut_recogniser(cut)
    values = np.random.default_rng(2).normal(size=(1, 30, 8)).astype(np.float32)
    monkeypatch.setattr(ocr_references, "draw", lambda name: values)
    (tmp_path / "whole.onnx").write_bytes(whole.SerializeToString())
    (tmp_path / "cut.onnx").write_bytes(cut.SerializeToString())

    ocr_references.check_cut(tmp_path / "whole.onnx", tmp_path / "cut.onnx")

    for tensor in cut.graph.initializer:
        if tensor.name == "linear_8.b_0":
            values_of = numpy_helper.to_array(tensor) + np.float32(
                [0.01, *[0] * (len(CLASSES) - 2)]
            )
            tensor.CopyFrom(numpy_helper.from_array(values_of, tensor.name))
    (tmp_path / "cut.onnx").write_bytes(cut.SerializeToString())
    with pytest.raises(WrongOutputs, match="other probabilities"):
        ocr_references.check_cut(tmp_path / "whole.onnx", tmp_path / "cut.onnx")


def test_pictures_of_the_check_are_drawn_the_same_everywhere():
    """The verification images are drawn with integers only, so that they are identical."""
    digests = [hashlib.sha256(ocr_references.draw(name).tobytes()).hexdigest() for name in GRAPHS]
    alphabet = convert_ppocr.alphabet()

    answer, _ = ocr_references.run(DIRECTORY / GRAPHS[1], GRAPHS[1]).values()
    best = answer[0].argmax(axis=-1)
    text = "".join(
        alphabet[place] for at, place in enumerate(best) if at == 0 or place != best[at - 1]
    )

    assert [digest[:8] for digest in digests] == DIGESTS
    assert text == ocr_references.LINE


def test_tokens_stand_for_the_columns_of_the_structure_network():
    """The drawn table of four rows and three columns comes out in tokens."""
    tokens = json.loads((DIRECTORY / "slanet" / "tokens.json").read_text())
    outputs = ocr_references.run(DIRECTORY / GRAPHS[2], GRAPHS[2])

    (structure,) = (values for values in outputs.values() if values.shape[-1] == len(tokens))

    said = "".join(tokens[place] for place in structure[0].argmax(axis=-1)).split("eos")[0]
    row = "<tr><td></td><td></td><td></td></tr>"
    assert said == f"<thead>{row}</thead><tbody>{row * 3}</tbody>"


def test_a_structure_network_with_other_tokens_is_refused():
    """A list that does not fit the columns would make other tables."""
    model = tiny_recogniser()
    with pytest.raises(BrokenFile, match="tokens, not 30"):
        convert_slanet.tokens_of(model)


def test_shapes_noted_inside_of_loops_are_removed(tmp_path):
    """Wrong shape annotations inside loops are removed; the results stay the same."""
    wrong = helper.make_tensor_value_info("inner", TensorProto.FLOAT, [])
    branch = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["inner"])], "branch", [], [wrong], value_info=[wrong]
    )
    node = helper.make_node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)
    inputs = [
        helper.make_tensor_value_info("yes", TensorProto.BOOL, [1]),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "outer", inputs, outputs, value_info=[wrong])
    model = helper.make_model(graph)
    listed = [f"token{number}" for number in range(27)]
    helper.set_model_props(model, {"character": "\n".join([*listed, "<td>"])})
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    target = tmp_path / "target"
    target.mkdir()

    convert_slanet.convert(tmp_path, target)

    converted = onnx.load(str(target / "model.onnx"))
    for attribute in converted.graph.node[0].attribute:
        assert not attribute.g.output[0].type.tensor_type.HasField("shape")
        assert not attribute.g.value_info
    assert not converted.graph.value_info
    assert list(converted.graph.input) == inputs
    assert json.loads((target / "tokens.json").read_text()) == ["sos", *listed, "<td></td>", "eos"]


def test_the_structure_network_does_not_complain(capfd):
    """ONNX Runtime reports no wrong shape in the structure network."""
    ocr_references.run(DIRECTORY / GRAPHS[2], GRAPHS[2])

    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", CARDS)
def test_cards_say_what_the_models_are(name):
    """A card has the API's form and names networks, digests, characters and limits."""
    card = json.loads((DIRECTORY / "prebuilt" / name / "card.json").read_text())
    facts = [
        json.loads((DIRECTORY / need / "engine.json").read_text()) for need in MODELS[name].needs
    ]

    msgspec.convert(card, CardRecord)
    assert card["modelId"] == card["name"] == name
    assert [network["sha256"] for network in card["engine"]["networks"]] == [
        known["sha256"] for known in facts
    ]
    assert "£≈€" in card["limits"]
    assert ("Tables" in card["limits"]) == (name == "tabulatev2")
    assert card["metrics"] == {}
    assert card | {"createdAt": ""} == ocr_models.make_card(name, facts) | {"createdAt": ""}


def test_networks_are_installed_before_what_is_made_of_them():
    """`make run` installs both networks, then the models under the API's names."""
    assert set(CARDS) == {"OCRModel", "tabulatev2"}
    for name in CARDS:
        assert all(FAST.index(need) < FAST.index(name) for need in MODELS[name].needs)
    assert OcrPool(DIRECTORY, "ppocr").state() == {"ocr": "ppocr"}
