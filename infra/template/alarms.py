"""The alarms, with their meaning and receivers; docs/runbook.md has a section for each."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib import metrics
from infra.resources import queue_resources
from infra.template.functions import FUNCTIONS
from infra.template.names import (
    API_STAGE,
    SETTINGS,
    Part,
    camel,
    ref,
    short_name,
    sub,
)

# Logical name of the topic that receives the alarms.
TOPIC = "AlarmTopic"
_OLDEST_SECONDS = {"train-paid": 3_600, "train-free": 6 * 3_600}
_OLDEST_DEFAULT = 1_800
# File that says what to do for each alarm.
RUNBOOK = "docs/runbook.md"


@dataclass(frozen=True)
class Alarm:
    """One alarm."""

    kind: str
    """Kind of alarm, which is the name of its section in the runbook."""
    name: str
    """Name of the alarm, without the stack's name; also the name of the template's resource."""
    namespace: str
    """Namespace of the metric."""
    metric: str
    """Name of the metric."""
    dimensions: tuple[tuple[str, Part | str], ...]
    """Dimensions of the metric."""
    threshold: int | Part
    """The alarm goes off when the metric reaches this value."""
    text: str
    """Description of what has happened."""
    statistic: str = "Sum"
    """How the values of a period are combined: `Sum`, `Maximum`, or a percentile such as `p99`."""
    minutes: int = 5
    """Length of a period, in minutes."""
    periods: int = 1
    """Number of consecutive periods that must reach the threshold."""


def all_alarms() -> tuple[Alarm, ...]:
    """Return every alarm."""
    return (*_queues(), *_functions(), *_gateway(), *_service())


def alarms() -> Part:
    """Return the alarms, and their notification topic if an email address is given."""
    found = {f"{camel(alarm.name)}Alarm": _resource(alarm) for alarm in all_alarms()}
    found[TOPIC] = {
        "Type": "AWS::SNS::Topic",
        "Condition": "HasAlarmEmail",
        "Properties": {
            "TopicName": sub("${Name}-alarms"),
            "Subscription": [{"Protocol": "email", "Endpoint": ref("AlarmEmail")}],
        },
    }
    return found


def _queues() -> list[Alarm]:
    """Return the alarms of each queue, and of jobs that failed."""
    found = []
    for queue in queue_resources(SETTINGS, 0):
        short = short_name(queue.name)
        found += [
            Alarm(
                "dead-letters",
                f"{short}-dead-letters",
                "AWS/SQS",
                "ApproximateNumberOfMessagesVisible",
                (("QueueName", sub(queue.dead_name)),),
                1,
                f"Jobs of the queue {short} failed too often and are in the dead-letter queue.",
                "Maximum",
            ),
            Alarm(
                "oldest-message",
                f"{short}-oldest-message",
                "AWS/SQS",
                "ApproximateAgeOfOldestMessage",
                (("QueueName", sub(queue.name)),),
                _OLDEST_SECONDS.get(short, _OLDEST_DEFAULT),
                f"Jobs of the queue {short} wait too long.",
                "Maximum",
                periods=2,
            ),
        ]
    return found


def _functions() -> list[Alarm]:
    found = []
    for function in FUNCTIONS:
        of = (("FunctionName", ref(function.logical)),)
        found += [
            Alarm(
                "errors",
                f"{function.short}-errors",
                "AWS/Lambda",
                "Errors",
                of,
                5 if function.queue else 1,
                f"The function {function.short} ends with errors.",
            ),
            Alarm(
                "throttles",
                f"{function.short}-throttles",
                "AWS/Lambda",
                "Throttles",
                of,
                5,
                f"The function {function.short} is throttled: it has too little concurrency.",
                periods=2,
            ),
        ]
    return found


def _gateway() -> list[Alarm]:
    """Return the alarms on errors and latency of the API."""
    of = (("ApiName", sub("${Name}")), ("Stage", API_STAGE))
    return [
        Alarm(
            "server-errors",
            "server-errors",
            "AWS/ApiGateway",
            "5XXError",
            of,
            5,
            "Callers get answers with status 500 or higher.",
        ),
        Alarm(
            "slow-answers",
            "slow-answers",
            "AWS/ApiGateway",
            "Latency",
            of,
            ref("SlowMilliseconds"),
            "One call in a hundred waits longer than the limit.",
            "p99",
            periods=3,
        ),
    ]


def _service() -> list[Alarm]:
    """Return the alarms on the service's metrics; without metrics, these alarms never go off."""
    of = ((metrics.SERVICE, sub("${Name}")),)
    return [
        Alarm(
            "jobs-given-up",
            "jobs-given-up",
            metrics.NAMESPACE,
            metrics.JOBS_GIVEN_UP.name,
            of,
            1,
            "Uploads or trainings have ended as FAILED after their last attempt.",
        ),
        Alarm(
            "models-not-brought",
            "models-not-brought",
            metrics.NAMESPACE,
            metrics.MODELS_NOT_BROUGHT.name,
            of,
            1,
            "Functions cannot load model files from the bucket.",
        ),
    ]


def _resource(alarm: Alarm) -> Part:
    statistic = "ExtendedStatistic" if alarm.statistic.startswith("p") else "Statistic"
    actions = [
        {"Fn::If": ["HasAlarmEmail", ref(TOPIC), ref("AWS::NoValue")]},
        {"Fn::If": ["HasAlarmTopic", ref("AlarmTopicArn"), ref("AWS::NoValue")]},
    ]
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmName": sub(f"${{Name}}-{alarm.name}"),
            "AlarmDescription": f"{alarm.text} See {RUNBOOK}, section {alarm.kind}.",
            "Namespace": alarm.namespace,
            "MetricName": alarm.metric,
            "Dimensions": [{"Name": name, "Value": value} for name, value in alarm.dimensions],
            statistic: alarm.statistic,
            "Period": alarm.minutes * 60,
            "EvaluationPeriods": alarm.periods,
            "Threshold": alarm.threshold,
            "ComparisonOperator": "GreaterThanOrEqualToThreshold",
            "TreatMissingData": "notBreaching",
            "AlarmActions": actions,
            "OKActions": actions,
        },
    }
