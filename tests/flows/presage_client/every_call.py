"""A script that calls every method of the client, for both clients.

It is written for the asynchronous one; `synchronous` of client/tools/write_sync.py makes the other.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any, TypeVar

from presage import AsyncDataset, AsyncPages, AsyncPresage

from tests.flows.pictures import basket_files, folders_zip, fruit_scenes, scenes_zip, shape
from tests.flows.presage_client import WEATHER
from tests.papers import paper
from tests.pdfs import text_pdf
from tests.pictures import make_zip

T = TypeVar("T")


async def first_of(pages: AsyncPages[T]) -> T:
    """Return the first record of a list that has one."""
    found = await pages.first()
    assert found is not None
    return found


async def tell_all(client: AsyncPresage, folder: Path) -> dict[str, Any]:
    """Call every method, and return the values that tests check."""
    seen: dict[str, Any] = {
        "health": (await client.health()).status,
        "used": (await client.usage()).object,
    }
    seen["account"] = (await client.whoami()).object
    data = await tell_texts(client)
    model_id = await tell_models(client, data, seen)
    await tell_corrections(client)
    await tell_webhooks(client)
    await manage_keys(client)
    await tell_sentiment(client)
    await tell_batches(client, model_id, folder)
    await tell_rankings(client, model_id)
    seen["bytes"] = await tell_exports(client, data, folder)
    await tell_pictures(client, folder)
    await tell_documents(client, folder)
    await (await client.language.models.get(model_id)).delete()
    return seen


async def tell_texts(client: AsyncPresage) -> AsyncDataset:
    """Datasets of texts and their examples."""
    language = client.language
    checked = await language.datasets.check(WEATHER, type="text-intent", preview=True)
    assert (checked.kept, checked.is_trainable) == (73, True)
    assert (len(checked.preview or ()), len(checked.columns or ())) == (20, 2)
    name = f"calls of {type(client).__name__}"
    data = await language.datasets.upload(WEATHER, type="text-intent", name=name)
    data = await (await data.refresh()).wait()
    label = data.labels[0].name
    more = f"kind;text\n{label};new\n".encode()
    data = await data.add(more, text_column="text", label_column="kind")
    assert data.total_examples == 74
    created = await language.datasets.create("made", labels=["a"], type="text-intent")
    example = await language.examples.add(created.id, "one", label="a")
    assert (await first_of(language.examples.list(created.id))).id == example.id
    assert [item.id async for item in created.examples()] == [example.id]
    listed = language.examples.list_label(created.id, created.labels[0].id)
    assert len(await listed.list()) == 1
    assert (await first_of(created.browse(contains="ON"))).name == "one"
    assert (
        await first_of(language.datasets.list(name=name.upper(), status="SUCCEEDED"))
    ).id == data.id
    assert [item.seen for item in await data.receipts().list()].count(74) == 1
    deletion = await created.delete()
    assert (await client.deletion(deletion.id)).id == deletion.id
    return data


async def tell_models(client: AsyncPresage, data: AsyncDataset, seen: dict[str, Any]) -> str:
    """Models of texts, from training to feedback."""
    language = client.language
    model = await (await data.train("all calls", profile="fast", epochs=4)).wait()
    assert (await model.refresh()).status == "SUCCEEDED"
    assert (await model.predict("hot?", num_results=1)).label
    found = await language.intent(model.model_id, "hot?", sample_id="mine")
    assert found.explanation is None
    explained = await language.intent(model.model_id, "hot?", explain=True)
    assert [part.text for part in explained.explanation or ()] == ["hot"]
    assert found.sample_id == "mine"
    assert (await model.metrics()).metrics_data["labels"]
    assert (await model.card()).model_id == model.model_id
    assert len(await model.curve().list()) == 4
    assert (await first_of(model.evaluation())).object == "evaluated"
    assert (await first_of(data.models())).model_id == model.model_id
    named = language.models.list(name="all calls", status="SUCCEEDED")
    assert model.model_id in [item.model_id async for item in named]
    assert (await (await model.retrain(epochs=3)).wait()).epochs == 3
    await tell_versions(client, model.model_id)
    assert (await language.feedback.add(model.model_id, "icy", data.labels[0].name)).name == "icy"
    seen["suspects"] = len(await data.browse(suspects_of=model.model_id).list())
    return str(model.model_id)


async def tell_versions(client: AsyncPresage, model_id: str) -> None:
    """List, compare, serve and delete the versions of a model."""
    model = await client.language.models.get(model_id)
    assert [one.version for one in await model.versions().list()] == [2, 1]
    assert (await model.compare_versions(1, 2)).examples >= 20
    export = await model.export(version=1)
    file = io.BytesIO()
    assert (export.model_version, await export.save(file)) == (1, len(file.getvalue()))
    imported = await client.language.models.import_file(file.getvalue(), "theirs")
    assert (await (await imported.wait()).card()).imported
    assert (await model.serve_version(1)).is_served
    found = await client.language.intent(model_id, "hot?", model_version=2)
    assert found.label
    assert (await model.card(version=2)).object == "card"
    assert (await model.metrics(version=1)).object == "metrics"
    assert (await model.delete_version(2)).version == 2
    texts = "text,label\n" + "".join(f"is it {n} degrees hot?,HOT\n" for n in range(20))
    labelled = texts.replace("HOT", found.label).encode()
    adjusted = await (await model.adjust(labelled, with_feedback=True)).wait()
    assert ((await adjusted.card()).adjustment or {}).get("labelled") == 20


async def tell_corrections(client: AsyncPresage) -> None:
    """Correct names, labels and examples, singly and in bulk."""
    datasets, examples = client.language.datasets, client.language.examples
    data = await datasets.upload(WEATHER, type="text-intent", name="to correct")
    described = await datasets.describe_labels(data.id, {"unseen_label": "Nothing else fits."})
    assert described.total_labels == data.total_labels + 1
    unseen = (await datasets.labels(data.id).list())[-1]
    assert (unseen.description, unseen.num_examples) == ("Nothing else fits.", 0)
    await datasets.remove_label(data.id, described.labels[-1].id)
    assert (await datasets.rename(data.id, "corrected")).name == "corrected"
    first, second, third = data.labels
    assert (await datasets.change_label(data.id, first.id, name="hottest")).name == "hottest"
    found = [example.id async for example in examples.list_label(data.id, second.id)]
    assert (await examples.change(data.id, found[0], label="hottest")).moved == 1
    assert (await examples.change(data.id, found[1], document="another text")).changed == 1
    assert (await examples.remove(data.id, found[2])).removed == 1
    done = await data.fix({"exampleId": found[3], "labelId": first.id})
    assert done.moved == 1
    assert (await first_of(data.corrections())).id == done.id
    assert (await datasets.change_label(data.id, second.id, merge_into=first.id)).moved
    assert (await datasets.remove_label(data.id, third.id)).removed == third.num_examples
    await data.delete()


async def tell_sentiment(client: AsyncPresage) -> None:
    """Use a trained sentiment model with the sentiment call."""
    rows = [
        f"{word} {number},{label}"
        for label, word in (("positive", "lovely"), ("negative", "awful"))
        for number in range(6)
    ]
    data = await client.language.datasets.upload("\n".join(rows).encode(), type="text-sentiment")
    models = client.language.models
    texts = b"text\nlovely weather\n"
    queued = await models.train(
        data.id, "moods", epochs=3, skip_small_labels=True, unlabelled=texts
    )
    model = await queued.wait()
    assert (model.train_params or {})["unlabelled"].startswith("presage:upload/")
    assert (await model.card()).skipped_labels == []
    assert (await client.language.sentiment("lovely!", model.model_id)).label


async def manage_keys(client: AsyncPresage) -> None:
    """Create, use and revoke an API key."""
    made = await client.keys.create("shop", scope="predict", expires_at="2099-01-01T00:00:00Z")
    async with AsyncPresage(client.transport.credentials.address, api_key=made.secret) as program:
        assert (await program.whoami()).scope == "predict"
    assert made.id in [key.id async for key in client.keys.list()]
    assert (await client.keys.delete(made.id)).last_used_at


async def tell_webhooks(client: AsyncPresage) -> None:
    """Create, change and remove a webhook whose URL does not answer."""
    hooks = client.webhooks
    made = await hooks.create("http://127.0.0.1:9/", ["batch.done"], description="unreachable")
    assert made.secret
    assert (await hooks.rotate(made.id)).secret not in (None, made.secret)
    assert (await hooks.get(made.id)).secret is None
    changed = await hooks.change(made.id, events=["batch.failed"], enabled=True)
    assert changed.events == ["batch.failed"]
    assert [one.id async for one in hooks.list()] == [made.id]
    sent = await hooks.test(made.id)
    assert [one.id async for one in hooks.deliveries(made.id)] == [sent.id]
    await hooks.delete(made.id)
    assert await hooks.list().list() == []


async def tell_batches(client: AsyncPresage, model_id: str, folder: Path) -> None:
    """Create, download and remove text batches."""
    batches = client.language.batches
    made = await batches.create(model_id, b"id,text\n7,Will it rain?\n", num_results=1)
    done = await made.wait()
    assert (done.status, done.counts.done) == ("SUCCEEDED", 1)
    assert (await batches.get(done.id)).result_bytes == await done.save(folder / "answers.jsonl")
    [line] = await done.results()
    assert (line["id"], len(line["probabilities"])) == ("7", 1)
    assert (await first_of(batches.list())).id == done.id
    await done.cancel()
    assert done.id not in [one.id async for one in batches.list()]


async def tell_rankings(client: AsyncPresage, model_id: str) -> None:
    """Rank two equal texts and a different one."""
    texts = b"id,text\n1,Will it rain?\n2,Will it rain?\n3,How hot is it in Rome?\n"
    made = await client.language.rankings.create(model_id, texts, count=2)
    done = await made.wait()
    assert (done.kind, done.counts.total) == ("rank", 3)
    lines = await done.results()
    assert [line["rank"] for line in lines] == [1, 2]
    assert {line["text"] for line in lines} == {"Will it rain?", "How hot is it in Rome?"}
    await done.cancel()


async def tell_exports(client: AsyncPresage, data: AsyncDataset, folder: Path) -> int:
    """Export a dataset as a file, and delete failed uploads."""
    language = client.language
    export = await data.export("csv", source="upload")
    size = await export.save(folder / "weather.csv")
    assert (await language.exports.get(data.id, export.id)).examples == 74
    failed = await language.datasets.upload(b"one column\n", type="text-intent", wait=False)
    while (await failed.refresh()).status_msg == "UPLOADING":
        pass
    gone = await language.datasets.delete_failed()
    assert str(failed.id) in [item.deleted_object_id for item in gone]
    return size


async def tell_pictures(client: AsyncPresage, folder: Path) -> None:
    """Images: archive upload by form, single examples, predictions, detection, bulk feedback."""
    vision = client.vision
    archive = folder / "shapes.zip"
    archive.write_bytes(folders_zip())
    path = await client.uploads.send(archive)
    assert (await client.uploads.create("unused")).path != path
    assert (await vision.datasets.check(path, type="image")).is_trainable
    data = await vision.datasets.upload(path, type="image", name="shapes")
    assert (await vision.datasets.get(data.id)).total_labels == 2
    picture = shape("circle", "red", 3)
    label = data.labels[0].name
    assert (await vision.examples.add(data.id, picture, label=label, name="one.jpg")).name
    model = await (await data.train("shapes", epochs=2)).wait()
    assert (await vision.predict(model.model_id, picture)).label
    assert (await model.predict(picture)).probabilities
    assert (await vision.feedback.add(model.model_id, picture, label)).label.name == label
    await tell_picture_batches(client, model.model_id, archive)
    tables = await vision.datasets.upload(scenes_zip(fruit_scenes(6)), type="image-detection")
    found = await first_of(tables.browse())
    moved = [{"x": 1, "y": 1, "width": 9, "height": 9, "labelId": found.label.id}]
    assert (await vision.examples.change(tables.id, found.id, boxes=moved)).added == 1
    finder = await (await tables.train("tables", epochs=1)).wait()
    scenes = fruit_scenes(1, seed=9, name="missed")
    assert (await vision.detect(finder.model_id, scenes[0][1])).object
    assert (await vision.add_bulk_feedback(finder.model_id, scenes_zip(scenes))).object
    baskets = await vision.datasets.upload(make_zip(basket_files()), type="image-multi-label")
    assert await vision.datasets.delete(baskets.id)
    assert await vision.models.delete(model.model_id)


async def tell_picture_batches(client: AsyncPresage, model_id: str, archive: Path) -> None:
    """Create, download and remove image batches."""
    vision = client.vision
    shots = await (await vision.batches.create(model_id, archive, num_results=1)).wait()
    lines = await shots.results()
    assert (shots.kind, len(lines)) == ("predict", shots.counts.total)
    single = await vision.predict(model_id, folder_picture(archive, lines[0]["id"]))
    assert lines[0]["probabilities"] == single.raw["probabilities"][:1]
    assert (await first_of(vision.batches.list())).id == shots.id
    await shots.cancel()
    best = await (await vision.rankings.create(model_id, archive, count=3)).wait()
    assert [line["rank"] for line in await best.results()][:1] == [1]


def folder_picture(archive: Path, name: str) -> bytes:
    """Return an image of an archive."""
    with zipfile.ZipFile(archive) as opened:
        return opened.read(name)


async def tell_documents(client: AsyncPresage, folder: Path) -> None:
    """Read a page as text, and for tables although it has none."""
    page = folder / "page.png"
    paper(["Invoice 17", "Total: 42.50"]).save(page)
    found = await client.vision.ocr(page, layout=True, output="text", pages=True)
    assert "17" in (found.document or "")
    assert [one.page_number for one in found.pages or ()] == [1]
    assert (await client.vision.ocr(page, task="table", model_id="tabulatev2")).task == "table"
    papers = folder / "papers"
    papers.mkdir()
    (papers / "page.png").write_bytes(page.read_bytes())
    batches = client.vision.batches
    made = await batches.create("OCRModel", papers, layout=True, output="text", pages=True)
    [line] = await (await made.wait()).results()
    assert line["document"] == found.document
    assert line["probabilities"] == found.raw["probabilities"]
    write_orders(folder / "orders")
    learned = await (await client.vision.templates.learn(folder / "orders")).wait()
    assert (learned.accuracy, learned.not_found) == (1.0, [])


def write_orders(folder: Path) -> None:
    """Write documents and their values from which a template is learned."""
    folder.mkdir()
    for number in ("4711", "8152"):
        (folder / f"{number}.pdf").write_bytes(text_pdf([f"Order: {number}"]))
    values = [{"file": f"{n}.pdf", "values": {"order": n}} for n in ("4711", "8152")]
    (folder / "values.json").write_text(json.dumps(values))
