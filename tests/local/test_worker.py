"""Workers of a running stack: latency, order, redelivery, dead letters, restarts."""

from __future__ import annotations

import os
import signal
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

from chalicelib.config import Settings
from infra.local.worker import DELIVER_LANES, EventSourceMapping, lanes
from infra.resources import MAX_RECEIVES
from tests.local.wire import wait_until

# Measured 0.6 to 1.6 on a busy machine. Polling in steps of 0.1 seconds would take 5 and more.
MOST_POLLS = 4


def test_message_reaches_an_idle_handler_quickly(stack, diary, send):
    """A handler starts within a few times what a plain long poll takes, at the median."""
    sqs = stack.client("sqs")
    url = sqs.create_queue(QueueName="presage-plain")["QueueUrl"]

    def receive() -> float:
        """Wait for a message of the plain queue; return when it came."""
        [message] = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"]
        came = time.time()
        # Otherwise a later poll could get it again.
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return came

    for queue in ("ingest", "train-paid", "train-free"):
        send(queue, f"warm {queue}")
        diary.wait(f"warm {queue}")
        delays, plain = [], []
        with ThreadPoolExecutor(1) as threads:
            for number in range(15):
                polled = threads.submit(receive)
                time.sleep(0.02)
                began = time.time()
                send("plain", "x")
                plain.append(polled.result() - began)
                began = time.time()
                send(queue, f"quick {queue} {number}.")
                started = float(diary.wait(f"quick {queue} {number}.")[0][0])
                delays.append(started - began)

        assert statistics.median(delays) < MOST_POLLS * statistics.median(plain)


def test_message_is_deleted_after_success(stack, diary, send):
    """A handled message is gone: neither visible nor in flight."""
    send("ingest", "only once")
    diary.wait("only once")
    sqs = stack.client("sqs")
    url = sqs.get_queue_url(QueueName="presage-ingest")["QueueUrl"]

    def is_empty() -> bool:
        """Look at the queue's counts."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        return all(found[name] == "0" for name in names)

    wait_until(is_empty)


def test_paid_training_comes_before_free(stack, diary, send):
    """When both queues wait every paid training is taken before any free one."""
    send("train-free", "sleep 1.0")
    diary.wait("sleep 1.0")
    for number in range(4):
        send("train-free", f"order f{number}")
    for number in range(4):
        send("train-paid", f"order p{number}")

    taken = [line[4] for line in diary.wait("order ", 8)]

    assert [f"order p{n}" for n in range(4)] == taken[:4]


def test_paid_comes_first_after_a_pause(stack, diary, send):
    """After a pause of the worker, a paid training runs before an earlier free one."""
    time.sleep(1)  # the worker waits on both queues again, not between asking one and the other
    stack.pause_workers()
    send("train-free", "paused free")
    time.sleep(0.1)
    send("train-paid", "paused paid")
    stack.resume_workers()

    taken = [line[4] for line in diary.wait("paused", 2)]

    assert taken == ["paused paid", "paused free"]


def test_schedule_ticks(stack, diary):
    """The scheduled handler gets a genuine event every PRESAGE_SWEEP_SECONDS."""
    assert diary.wait("sweep", 2)[0][4] == "Scheduled Event"


def test_failing_message_is_delivered_again_and_ends_in_the_dead_letter_queue(stack, diary, send):
    """A failing message is repeated; after the fifth failure it is in the dead-letter queue."""
    send("delete", "fail")
    sqs = stack.client("sqs")
    work = sqs.get_queue_url(QueueName="presage-delete")["QueueUrl"]
    dead = sqs.get_queue_url(QueueName="presage-delete-dead")["QueueUrl"]
    for attempt in range(1, MAX_RECEIVES):
        diary.wait("fail", attempt)
        wait_until(lambda n=attempt: stack.log().count("delete_object failed") >= n)
        expire(stack, work)
    diary.wait("fail", MAX_RECEIVES)
    wait_until(lambda: stack.log().count("delete_object failed") >= MAX_RECEIVES)
    expire(stack, work)

    received = sqs.receive_message(QueueUrl=dead, WaitTimeSeconds=10)

    assert received["Messages"][0]["Body"] == "fail"
    assert [line[3] for line in diary.lines("fail")] == ["1", "2", "3", "4", "5"]
    assert "ValueError: as asked" in stack.log()


def expire(stack, url):
    """Wait until the message in flight is visible again."""
    sqs = stack.client("sqs")

    def is_visible() -> bool:
        """Look at the count of messages in flight."""
        name = "ApproximateNumberOfMessagesNotVisible"
        found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"]
        return found[name] == "0"

    wait_until(is_visible, 20)


def test_heartbeat_keeps_a_long_job_hidden(stack, diary, send):
    """A job longer than the visibility time is not delivered twice."""
    send("train-paid", "sleep 5")

    diary.wait("paid 1 done", seconds=15)

    assert len(diary.lines("sleep 5")) == 1


def test_killed_worker_is_started_again_and_its_message_delivered_again(stack, diary, send):
    """SIGKILL in the middle of a job: a new worker gets the message within the visibility time."""
    send("train-free", "sleep 2")
    diary.wait("sleep 2")
    killed = stack.kill_worker("train", signal.SIGKILL)

    lines = diary.wait("sleep 2", 2, seconds=20)
    diary.wait("free 2 done")

    assert [line[3] for line in lines] == ["1", "2"]
    assert str(killed) != lines[1][1]
    assert "train (process" in stack.log()
    assert stack.processes["train"] != killed
    os.kill(stack.processes["train"], 0)


def test_deliveries_have_lanes_of_their_own():
    """Several threads deliver webhooks, and none of them reads another queue."""
    settings = Settings()
    queues = ("presage-delete", "presage-deliver", "presage-train-paid")
    mappings = [EventSourceMapping(queue, queue, lambda *_: None) for queue in queues]

    found = [[source.queue for source in lane] for lane in lanes(mappings, settings, False)]

    assert found == [["presage-delete"], *[["presage-deliver"]] * DELIVER_LANES]
