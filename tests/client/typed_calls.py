"""Calls of the client with the types that a type checker must find; mypy reads it, nothing runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

from presage import (
    AsyncModel,
    AsyncPresage,
    Dataset,
    Detection,
    FormField,
    FormResult,
    Model,
    OcrResult,
    Pages,
    Prediction,
    Presage,
    TableResult,
    records,
)


def predict_texts(client: Presage, texts: list[str]) -> dict[str, Any]:
    """Texts: one gives one prediction, a list a list."""
    data = client.language.datasets.upload("tickets.csv", type="text-intent", keep_failed=False)
    assert_type(data, Dataset[Prediction])
    model = data.train(name="tickets", profile="fast").wait()
    assert_type(model, Model[Prediction])
    assert_type(model.predict("Where is my parcel?"), Prediction)
    assert_type(model.predict(texts), list[Prediction])
    assert_type(client.language.models.get("A"), Model[Prediction])
    assert_type(client.language.models.list(), Pages[Model[Prediction]])
    assert_type(data.models().first(), Model[Prediction] | None)
    assert_type(model.retrain(epochs=3), Model[Prediction])
    assert_type(model.epochs, int | None)
    return model.predict("a").to_dict()


def predict_images(client: Presage, files: list[Path]) -> None:
    """Images: the call decides; a model of either kind gives one of two results."""
    vision = client.vision
    assert_type(vision.predict("A", files[0], num_results=2), Prediction)
    assert_type(vision.predict("A", files), list[Prediction])
    assert_type(vision.detect("A", b"png"), Detection)
    assert_type(vision.detect("A", ("a.png", "b.png")), list[Detection])
    found = vision.models.get("A").predict(files[0])
    assert_type(found, Prediction | Detection)
    assert_type(found.label, str | None)


def read_documents(client: Presage, task: str) -> None:
    """Documents: the task decides."""
    ocr = client.vision.ocr
    assert_type(ocr("a.pdf"), records.TextResult)
    assert_type(ocr("a.pdf", task="text", output="markdown"), records.TextResult)
    assert_type(ocr("a.pdf", task="contact"), records.ContactResult)
    assert_type(ocr("a.pdf", task="table").tables[0].rows, list[list[str]])
    form = ocr("a.pdf", task="form", form_type="w2")
    assert_type(form, FormResult)
    assert_type(form.fields["wages"], FormField)
    assert_type(form.fields[0], FormField)
    assert_type([name for name, field in form.fields.items() if field.value], list[str])
    assert_type(ocr(["a.pdf"], task="table"), list[TableResult])
    assert_type(ocr("a.pdf", task=task), OcrResult)


def use_any_model(model: Model, data: Dataset) -> str | None:
    """Accept a model and a dataset of any kind."""
    assert_type(model.predict("a"), Prediction | Detection)
    return model.predict("a").label or data.name


async def predict_without_blocking(client: AsyncPresage) -> Prediction:
    """Use the asynchronous client, which has the same types."""
    model = await client.language.models.get("A")
    assert_type(model, AsyncModel[Prediction])
    assert_type(await client.vision.ocr("a.pdf", task="table"), TableResult)
    assert_type(await model.predict(["a", "b"]), list[Prediction])
    async for item in client.vision.models.list():
        assert_type(item, AsyncModel[Prediction | Detection])
    return await model.predict("a")


def accept_any(model: Model[Prediction], data: Dataset[Prediction]) -> None:
    """Pass a model and a dataset of texts where any are accepted."""
    use_any_model(model, data)


def misspell(client: Presage, data: Dataset, model: Model) -> None:
    """Misspell arguments: mypy reports an ignore that is not needed."""
    client.language.datasets.upload("a.csv", label_colum="b")  # type: ignore[call-arg]
    client.language.datasets.check("a.csv", stric=True)  # type: ignore[call-arg]
    data.add("a.csv", text_colum="b")  # type: ignore[call-arg]
    data.train("a", profil="fast")  # type: ignore[call-arg]
    model.retrain(epoch=3)  # type: ignore[call-arg]
    client.vision.ocr("a.pdf", outptu="text")  # type: ignore[call-overload]
    client.vision.predict("A", "a.png", explian=True)  # type: ignore[call-overload]
    client.vision.batches.create("A", "a.zip", alphabt="latin")  # type: ignore[call-arg]
    client.language.batches.create("A", "a.csv", text_column=["Subject", "Body"], columns="input")
