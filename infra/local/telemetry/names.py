"""Names and labels of the exported metrics that chalicelib/metrics.py does not declare."""

from __future__ import annotations

from chalicelib.metrics import Metric

QUEUE_MESSAGES = "presage_queue_messages"
QUEUE_AGE = "presage_queue_oldest_message_seconds"
TRAININGS = "presage_trainings_open"
BATCHES = "presage_batches_open"
MEMORY = "presage_process_resident_memory_bytes"
SAVE_AGE = "presage_state_save_age_seconds"
GAUGES = {
    QUEUE_MESSAGES: "Messages that wait or are in work, by lane.",
    QUEUE_AGE: "Age of the oldest message, by lane; 0 for an empty queue.",
    TRAININGS: "Trainings that have not ended, by state.",
    BATCHES: "Batches that have not ended.",
    MEMORY: "Memory of each process of the stack.",
    SAVE_AGE: "Time since the data was saved for the last time.",
}
# The label of each gauge that has one.
GAUGE_LABELS = {
    QUEUE_MESSAGES: "lane",
    QUEUE_AGE: "lane",
    TRAININGS: "state",
    MEMORY: "process",
}


def labels_of(metric: Metric) -> tuple[str, ...]:
    """Return the labels of a metric. The dimension `Function` becomes `lane` (worker thread)."""
    return tuple("lane" if name == "Function" else name.lower() for name in metric.dimensions)
