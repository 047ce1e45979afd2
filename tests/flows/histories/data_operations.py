"""Operations on datasets, their examples and receipts."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from tests.flows.client import LANGUAGE
from tests.flows.histories.actor import (
    Actor,
    Divergence,
    Request,
    as_form,
    as_json,
    dataset_path,
    delete,
    expect,
    get,
)
from tests.flows.histories.comparisons import (
    see_dataset,
    see_deletion,
    see_example,
    see_page,
    see_receipts,
    see_training,
)
from tests.flows.histories.specification import (
    INTENT,
    SENTIMENT,
    SENTIMENTS,
    SOURCES,
    UPLOAD,
    Dataset,
    Item,
    Label,
    Row,
    allowed,
)
from tests.flows.world import csv_file

WORDS = ("rain", "Rain", "sun", "wind", "é", "cloud, grey", 'say "hail"', "雪", "fog", "storm")
TEXTS = [f"{first} and {second}" for first in WORDS for second in WORDS]
LABELS = ("hot", "cold", "mild", "Übrig")
MOST_OPEN_UPLOADS = 20
SYNC, QUEUED = "upload/sync", "upload"


def pick_dataset(actor: Actor) -> Dataset | None:
    """Choose a dataset, rarely a deleted one."""
    living = [dataset for dataset in actor.datasets if not dataset.deletion_id]
    wants_any = not living or actor.random.random() < 0.08
    found = actor.datasets if wants_any else living
    return actor.random.choice(found) if found else None


def new_dataset(actor: Actor, *, is_uploaded: bool) -> Dataset:
    """Describe a dataset that is about to be created."""
    kind = INTENT if actor.random.random() < 0.75 else SENTIMENT
    return Dataset(actor.new_name(), kind, is_uploaded, is_usable=not is_uploaded)


def pick_label(actor: Actor, kind: str) -> str:
    """Choose a label, rarely an invalid one."""
    if kind == SENTIMENT:
        return actor.random.choice((*SENTIMENTS, "Positive", "NEUTRAL", *SENTIMENTS, "angry"))
    return actor.random.choice(LABELS[: actor.random.choice((2, 2, 2, 3, 4))])


def new_rows(actor: Actor, kind: str) -> list[Row]:
    """Generate the rows of a file, with duplicates and rows without a label; rarely only those."""
    number = actor.random.choice((1, 4, 12, 24, 40))
    rows = [(actor.random.choice(TEXTS), pick_label(actor, kind)) for _ in range(number)]
    if actor.random.random() < 0.3:
        rows.insert(actor.random.randrange(1, len(rows) + 1), ("a text without label", ""))
    if actor.random.random() < 0.05:
        rows = [(text, "") for text, _ in rows]
    return rows


def create_by_hand(actor: Actor) -> None:
    """Create a dataset without a file; rarely with invalid fields."""
    dataset = new_dataset(actor, is_uploaded=False)
    names = SENTIMENTS if dataset.type == SENTIMENT else LABELS
    names = names[: actor.random.randrange(len(names))]
    fields = {"name": dataset.name, "type": dataset.type, "labels": ",".join(names)}
    path = f"{LANGUAGE}/datasets"
    if actor.random.random() < 0.15:
        bad = actor.random.choice(({"labels": "hot,hot"}, {"name": ""}, {"type": "text"}))
        actor.call(as_json(path, fields | bad), {400})
        return
    dataset.labels = [Label(name) for name in names]
    see_dataset(dataset, actor.call(as_json(path, fields), {200}).data)
    actor.datasets.append(dataset)


def file_request(method: str, path: str, fields: dict[str, object], rows: list[Row]) -> Request:
    """Describe a csv upload; say that the first row is data where it could be a header."""
    if may_begin_with_names(rows):
        fields = {**fields, "header": "false"}
    return as_form(method, path, fields, {"data": ("rows.csv", csv_file(rows))})


def may_begin_with_names(rows: list[Row]) -> bool:
    """Return whether the cells of a first row are unique, like those of a header."""
    text, label = rows[0]
    below = [cell for row in rows[1:] for cell in row]
    return text not in below and label not in below


def upload(actor: Actor) -> None:
    """Upload a file as a dataset, queued or synchronously."""
    dataset = new_dataset(actor, is_uploaded=True)
    call = actor.random.choice((QUEUED, SYNC))
    rows = new_rows(actor, dataset.type)
    fields: dict[str, object] = {"name": dataset.name, "type": dataset.type}
    request = file_request("POST", f"{LANGUAGE}/datasets/{call}", fields, rows)
    is_crowded = sum(one.waiting is not None for one in actor.datasets) >= MOST_OPEN_UPLOADS
    answer = actor.call(request, allowed([(429, False)] if is_crowded else []))
    if answer.status != 200:
        return
    dataset.begin(rows)
    if call == SYNC:
        dataset.finish()
    see_dataset(dataset, answer.data)
    if call == QUEUED:
        expect("state of a new upload", "UPLOADING", answer.data["statusMsg"])
    actor.datasets.append(dataset)


def put_file(actor: Actor, dataset: Dataset) -> None:
    """Add a file to a dataset."""
    rows = new_rows(actor, dataset.type)
    obstacles = [*dataset.missing, *dataset.unready]
    if not dataset.is_uploaded:
        obstacles.append((400, True))
    request = file_request("PUT", dataset_path(dataset, "/upload"), {}, rows)
    answer = actor.call(request, allowed(obstacles))
    if answer.status == 200:
        dataset.finish()
        dataset.begin(rows)
        expect("state of a dataset with a new file", "UPLOADING", answer.data["statusMsg"])
        see_dataset(dataset, answer.data)
    if answer.status == 404:
        dataset.is_gone = True


def add_example(actor: Actor, dataset: Dataset) -> None:
    """Add one example, new or equal, by label name or id; rarely an invalid one."""
    text = actor.random.choice((*TEXTS, f"  {actor.random.randrange(1000)} \n", " "))
    written = pick_label(actor, dataset.type)
    known = [label for label in dataset.labels if label.id]
    fields: dict[str, object] = {"document": text, "label": written}
    obstacles = [*dataset.missing]
    if known and actor.random.random() < 0.4:
        label = actor.random.choice(known)
        written, fields = label.name, {"document": text, "labelId": label.id}
    if not text.strip() or not dataset.label_name(written):
        obstacles.append((400, not dataset.deletion_id))
    obstacles += dataset.unready
    answer = actor.call(as_json(dataset_path(dataset, "/examples"), fields), allowed(obstacles))
    if answer.status == 200:
        added(dataset, text, written, answer.data)


def added(dataset: Dataset, text: str, written: str, record: dict[str, object]) -> None:
    """Record an accepted single example."""
    dataset.finish()
    expect("only a usable dataset takes examples", True, dataset.is_usable)
    see_added(dataset, text, written, UPLOAD, record)


def see_added(
    dataset: Dataset, text: str, written: str, source: str, record: dict[str, Any]
) -> None:
    """Record an accepted example, or match it with an equal existing one."""
    label = dataset.add(text, dataset.label_name(written), source)
    example = label.find(text, source)
    if example is not None:
        see_example(dataset, (label, source, example), record)


def read_dataset(actor: Actor, dataset: Dataset) -> None:
    """Read a dataset."""
    answer = actor.call(get(dataset_path(dataset)), allowed(dataset.missing))
    if answer.status == 200:
        see_dataset(dataset, answer.data)
    else:
        dataset.is_gone = True


def list_datasets(actor: Actor) -> None:
    """Read a page of the list, in which datasets being deleted may be missing."""
    offset, count = actor.random.choice((0, 0, 0, 3, 50)), actor.random.choice((1, 5, 25, 99))
    answer = actor.call(get(f"{LANGUAGE}/datasets", offset=offset, count=count), {200})
    found = {record["id"]: record for record in answer.data["data"]}
    certain = [dataset for dataset in actor.datasets if not dataset.deletion_id]
    dying = [one for one in actor.datasets if one.deletion_id and not one.is_gone]
    pages = []
    for number in range(len(dying) + 1):
        for chosen in combinations(dying, number):
            shown = sorted((*certain, *chosen), key=lambda one: one.id)
            end = offset + min(count, 25)
            pages.append(([one.id for one in shown[offset:end]], len(shown) > end))
    got = (list(found), answer.next_path is not None)
    if got not in pages:
        raise Divergence(f"list of datasets\n  expected one of: {pages}\n  got: {got}")
    for dataset in actor.datasets:
        if dataset.id in found:
            see_dataset(dataset, found[dataset.id])


def list_examples(actor: Actor, dataset: Dataset) -> None:
    """Read a page of a dataset's examples."""
    source = actor.random.choice(("upload", "feedback", "all"))
    sources = SOURCES if source == "all" else (source,)
    offset, count = actor.random.choice((0, 0, 0, 7, 500)), actor.random.choice((5, 100, 1000))
    bad = actor.random.random() < 0.05
    query = {"source": source, "offset": -1 if bad else offset, "count": count}
    request = get(dataset_path(dataset, "/examples"), **query)
    if page := read_examples(actor, dataset, request, is_bad=bad):
        (records,) = page
        items = _possible(dataset, sources)
        see_page(dataset, _fitting(dataset, items, records, offset, count), records)


def browse(actor: Actor, dataset: Dataset) -> None:
    """Browse a dataset's examples: all, of a label, or with a word."""
    source, word = actor.random.choice((*SOURCES, "all")), actor.random.choice(("", "RAIN", "雪"))
    sources = SOURCES if source == "all" else (source,)
    known = [one for one in dataset.labels if one.id]
    label = actor.random.choice(known) if known and actor.random.random() < 0.4 else None
    offset, count = actor.random.choice(((0, 100), (0, 100), (3, 5)))
    query: dict[str, object] = {"source": source, "offset": offset, "count": count}
    query |= {"contains": word} if word else {}
    query |= {"labelId": label.id} if label else {}
    answer = actor.call(get(dataset_path(dataset, "/browse"), **query), allowed(dataset.unreadable))
    if answer.status != 200:
        return

    def wanted(items: Items) -> Items:
        mine = [item for item in items if label is None or item[0].id == label.id][offset:]
        return [item for item in mine if word.lower() in item[2].text.lower()][:count]

    got = [(one["name"], one["label"]["name"], one["source"]) for one in answer.data["data"]]
    now, later = ([_shown(one) for one in wanted(items)] for items in _possible(dataset, sources))
    if got != now and got == later:
        dataset.finish()
    items = wanted(dataset.listing(sources))
    expect(f"browsed texts of dataset {dataset.id}", [_shown(one) for one in items], got)
    for (found, of, _), record in zip(items, answer.data["data"], strict=True):
        see_id(found, of, record)


def see_id(label: Label, source: str, record: dict[str, Any]) -> None:
    """Compare the id of an example, or record it if it is not known yet."""
    example = label.find(record["name"], source)
    if example is not None:
        example.id = example.id or record["id"]
        expect("id of an example", example.id, record["id"])


def _shown(item: Item) -> tuple[str, str, str]:
    """Return text, label and source of an example record."""
    return item[2].text, item[0].name, item[1]


def list_label(actor: Actor, dataset: Dataset) -> None:
    """Read a page of a label's examples, by id, position, or the deprecated call."""
    known = [(place, label) for place, label in enumerate(dataset.labels) if label.id]
    if not known:
        read_dataset(actor, dataset)
        return
    place, label = actor.random.choice(known)
    by_id = f"{LANGUAGE}/examples/{dataset.id}/label/{label.id}"
    by_place = f"{LANGUAGE}/examples/{dataset.id}/label/{place}"
    old = f"{LANGUAGE}/examples?labelId={label.id}"
    request = get(actor.random.choice((by_id, by_place, old)))
    if page := read_examples(actor, dataset, request):
        (records,) = page
        items = [
            [
                item
                for source in SOURCES
                for item in one.listing((source,))
                if item[0].id == label.id
            ]
            for one in (dataset, dataset.finished())
        ]
        see_page(dataset, _fitting(dataset, items, records, 0, 100), records)


def read_examples(
    actor: Actor, dataset: Dataset, request: Request, *, is_bad: bool = False
) -> list[list[dict[str, Any]]]:
    """Make a call that returns and counts examples; return nothing if it is refused."""
    obstacles = [*dataset.unreadable, *([(400, True)] if is_bad else [])]
    if actor.example_calls >= actor.example_allowance:
        obstacles.append((429, True))
    answer = actor.call(request, allowed(obstacles))
    if answer.status != 200:
        return []
    actor.example_calls += 1
    return [answer.data["data"]]


Items = list[Item]


def _possible(dataset: Dataset, sources: tuple[str, ...]) -> list[Items]:
    """Return the dataset as it was and as it will be after its file was read."""
    return [dataset.listing(sources), dataset.finished().listing(sources)]


def _fitting(
    dataset: Dataset, lists: list[Items], records: list[dict[str, Any]], offset: int, count: int
) -> Items:
    """Choose the list that a page belongs to; if only the later one fits, the file was read."""
    end = offset + min(count, 100)
    got = [(record["name"], record["label"]["numExamples"]) for record in records]
    now, later = ([(e.text, label.count()) for label, _, e in one[offset:end]] for one in lists)
    if now == got or later != got:
        return lists[0][offset:end]
    dataset.finish()
    found = [(dataset.label(label.name), source, e.text) for label, source, e in lists[1]]
    places = [(one, source, one.find(text, source)) for one, source, text in found if one]
    return [(label, source, one) for label, source, one in places if one][offset:end]


def read_receipts(actor: Actor, dataset: Dataset) -> None:
    """Read a page of a dataset's receipts."""
    offset, count = actor.random.choice((0, 0, 1)), actor.random.choice((1, 25))
    request = get(dataset_path(dataset, "/receipts"), offset=offset, count=count)
    obstacles = [(404, dataset.is_gone)] if dataset.deletion_id else []
    answer = actor.call(request, allowed(obstacles))
    if answer.status == 200 and not dataset.deletion_id:
        see_receipts(dataset, offset, count, answer.data["data"])


def delete_dataset(actor: Actor, dataset: Dataset) -> None:
    """Delete a dataset, possibly repeatedly, during an upload or a training."""
    trained = [model for model in actor.models if model.dataset is dataset and model.is_open]
    # An adjustment does not read the dataset.
    trained = [model for model in trained if not model.is_adjusting]
    is_new = not dataset.deletion_id
    obstacles = [(409, False)] if trained and is_new else []
    answer = actor.call(delete(dataset_path(dataset)), allowed(obstacles))
    if answer.status != 200:
        return
    see_deletion(actor, "DATASET", dataset, answer.data)
    for model in trained if is_new else []:
        record = actor.call(get(f"{LANGUAGE}/train/{model.id}"), {200}).data
        expect("a dataset in training is not deleted", "SUCCEEDED", record["status"])
        see_training(actor, model, record)


def read_deletion(actor: Actor) -> None:
    """Read one of the account's deletions."""
    owners = [("DATASET", one) for one in actor.datasets if one.deletion_id]
    owners += [("MODEL", one) for one in actor.models if one.deletion_id]
    if owners:
        kind, owner = actor.random.choice(owners)
        answer = actor.call(get(f"{LANGUAGE}/deletion/{owner.deletion_id}"), {200})
        see_deletion(actor, kind, owner, answer.data)
