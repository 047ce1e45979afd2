"""Logs the results of uploads, trainings, documents and other work, with their metrics.

Each event has one function, so that its log line and its metric always agree. The lines are written
at every log level.
"""

from __future__ import annotations

from chalicelib import log, metrics


def upload_done(dataset_id: int, kind: str, rows: tuple[int, int, int], seconds: float) -> None:
    """Log that a file was read into a dataset."""
    seen, kept, rejected = rows
    log.record(
        "upload_done",
        dataset=dataset_id,
        seen=seen,
        kept=kept,
        rejected=rejected,
        seconds=round(seconds, 3),
        **metrics.embedded({metrics.INGEST_SECONDS: seconds, metrics.INGEST_ROWS: seen}, Type=kind),
    )


def upload_failed(dataset_id: int, kind: str) -> None:
    """Log that an upload ended as FAILED. Its receipt has the reason."""
    figures = metrics.embedded({metrics.UPLOADS_FAILED: 1}, Type=kind)
    log.record("upload_failed", dataset=dataset_id, type=kind, **figures)


def training_done(model_id: str, kind: str, seconds: float) -> None:
    """Log that a training succeeded."""
    metrics.record({metrics.TRAININGS: 1}, State="SUCCEEDED")
    figures = metrics.embedded({metrics.TRAINING_SECONDS: seconds}, Type=kind)
    log.record("training_done", model=model_id, type=kind, seconds=seconds, **figures)


def training_failed(model_id: str, kind: str) -> None:
    """Log that a training ended as FAILED. Its model has the reason."""
    metrics.record({metrics.TRAININGS: 1}, State="FAILED")
    figures = metrics.embedded({metrics.TRAININGS_FAILED: 1}, Type=kind)
    log.record("training_failed", model=model_id, type=kind, **figures)


def export_done(export_id: str, kind: str, examples: int, size: int) -> None:
    """Log that an export was written, with its size in bytes."""
    log.record("export_done", export=export_id, format=kind, examples=examples, bytes=size)


def batch_done(batch_id: str, status: str, lines: int, failed: int) -> None:
    """Log the end of a batch, with the numbers of answered and of failed lines."""
    metrics.record({metrics.BATCHES: 1}, State=status)
    log.record("batch_done", batch=batch_id, status=status, lines=lines, failed=failed)


def template_learned(learning_id: str, documents: int, accuracy: float | None) -> None:
    """Log that a template was learned, with its leave-one-out accuracy."""
    log.record("template_learned", template=learning_id, documents=documents, accuracy=accuracy)


def delivery_tried(hook_id: str, event: str, response: int | None, *, failed: bool) -> None:
    """Log an attempt to deliver an event to a webhook."""
    log.record("delivery_tried", webhook=hook_id, type=event, status=response, failed=failed)


def job_given_up(id_name: str, object_id: str | int) -> None:
    """Log that a job ended as FAILED because it had no attempts left."""
    facts = {id_name: object_id, **metrics.embedded({metrics.JOBS_GIVEN_UP: 1})}
    log.error("job_given_up", None, **facts)


def document_read(task: str, pages: int, seconds: float) -> None:
    """Log that a document was read."""
    values = {metrics.OCR_SECONDS: seconds, metrics.OCR_PAGES: pages}
    figures = metrics.embedded(values, Task=task)
    log.record("document_read", task=task, pages=pages, seconds=round(seconds, 3), **figures)


def model_downloaded(folder: str, size: int, seconds: float) -> None:
    """Log that a folder of model files was downloaded, with its size in bytes."""
    figures = metrics.embedded({metrics.MODEL_MILLISECONDS: 1000 * seconds}, Model=folder)
    log.record("model_brought", folder=folder, bytes=size, seconds=round(seconds, 3), **figures)


def model_download_failed(folder: str, error: BaseException) -> None:
    """Log that a folder of model files could not be downloaded."""
    figures = metrics.embedded({metrics.MODELS_NOT_BROUGHT: 1})
    log.error("model_not_brought", error, folder=folder, **figures)
