"""Simultaneous callers: no answer contains data of another image, model or account."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field

from tests.flows.client import VISION, Client
from tests.flows.crowd import run_crowd
from tests.flows.pictures import folders_zip, fruit_scenes, scenes_zip, shape

THREADS = 16
CALLS = 60
PICTURES = 3
"""Different images of each model."""


@dataclass
class Asked:
    """A model of an account, with the answers it gives to a single caller."""

    client: Client
    model_id: str
    call: str
    pictures: list[bytes]
    answers: list[str] = field(default_factory=list)

    def record(self) -> None:
        """Predict each image once, without other callers."""
        for content in self.pictures:
            answer = self.client.picture(self.model_id, content, self.call)
            self.answers.append(text_of(answer.ok["probabilities"]))


def text_of(items: object) -> str:
    """Format probabilities so that they can be compared."""
    return json.dumps(items)


def classifier(client: Client, number: int) -> Asked:
    """Train a classifier with labels that are unique to an account."""
    labels = {f"account{number}-ball": ("circle", "red"), f"account{number}-box": ("cross", "blue")}
    dataset = client.dataset(folders_zip(labels=labels, count=4), file_name="x.zip")
    model_id = client.model(dataset["id"], epochs=2)
    pictures = [shape("circle", "red", 50 + 10 * number + place) for place in range(PICTURES)]
    return Asked(client, model_id, "predict", pictures)


def finder(client: Client, number: int) -> Asked:
    """Train a detection model."""
    content = scenes_zip(fruit_scenes(3, seed=40 + number))
    dataset = client.dataset(content, file_name="t.zip", type="image-detection")
    model_id = client.model(dataset["id"], epochs=2)
    pictures = [scene[1] for scene in fruit_scenes(PICTURES, seed=60 + number)]
    return Asked(client, model_id, "detect", pictures)


def test_no_answer_mixes_two_requests(world):
    """60 predictions of 16 threads, two accounts and five models each match their request."""
    crowd = []
    for number in range(2):
        client = world.photographer()
        crowd += [classifier(client, number), finder(client, number)]
    scenery = [shape("triangle", "green", place) for place in range(PICTURES)]
    crowd.append(Asked(crowd[0].client, "SceneClassifier", "predict", scenery))
    for asked in crowd:
        asked.record()
    begin = used(crowd)

    def call(clients, number):
        """Call a model with an image, alternating between form and JSON."""
        place = number % len(crowd)
        asked = crowd[place]
        mine = clients.setdefault(place, asked.client.clone())
        picture = number // len(crowd) % PICTURES
        content, sample = asked.pictures[picture], {"sampleId": f"s{number}"}
        if number % 2:
            answer = mine.picture(asked.model_id, content, asked.call, **sample)
        else:
            packed = base64.b64encode(content).decode()
            fields = {"modelId": asked.model_id, "sampleBase64Content": packed, **sample}
            answer = mine.json("POST", f"{VISION}/{asked.call}", fields)
        if answer.status != 200:
            return f"{number}: {answer.status} {answer.body[:300]!r}"
        same = text_of(answer.data["probabilities"]) == asked.answers[picture]
        is_own = same and answer.data["sampleId"] == f"s{number}"
        return None if is_own else f"{number}: {answer.body[:300]!r}"

    assert run_crowd(THREADS, CALLS, call) == []
    assert sum(used(crowd)) - sum(begin) == CALLS, "each was counted once"


def used(crowd):
    """Return the predictions that each of the two accounts used."""
    clients = (crowd[0].client, crowd[2].client)
    return [client.get("/v2/apiusage").ok["data"][0]["predictionsUsed"] for client in clients]
