"""A budget that tells of costs before the bill does, where somebody can be told."""

from __future__ import annotations

from infra.template.names import Part, ref, sub

# Parameter with its amount.
BUDGET = "MonthlyBudget"
# What is compared with the budget, and from how many per cent on it is told.
NOTICES = (("ACTUAL", 80), ("FORECASTED", 100))


def budget() -> Part:
    """Return the budget: of the whole account, since a tag counts only once Billing knows it."""
    subscribers = [
        _if("HasAlarmEmail", {"SubscriptionType": "EMAIL", "Address": ref("AlarmEmail")}),
        _if("HasAlarmTopic", {"SubscriptionType": "SNS", "Address": ref("AlarmTopicArn")}),
    ]
    notices = [
        {
            "Notification": {
                "NotificationType": kind,
                "ComparisonOperator": "GREATER_THAN",
                "Threshold": percent,
                "ThresholdType": "PERCENTAGE",
            },
            "Subscribers": subscribers,
        }
        for kind, percent in NOTICES
    ]
    limit = {"Amount": ref(BUDGET), "Unit": "USD"}
    return {
        "Budget": {
            "Type": "AWS::Budgets::Budget",
            "Condition": "HasBudget",
            "Properties": {
                "Budget": {
                    # Budgets are of no region, stages are.
                    "BudgetName": sub("${Name}-${AWS::Region}"),
                    "BudgetType": "COST",
                    "TimeUnit": "MONTHLY",
                    "BudgetLimit": limit,
                },
                "NotificationsWithSubscribers": notices,
            },
        }
    }


def budget_condition() -> Part:
    """Return the condition that there is a budget, and somebody to be told."""
    told = {"Fn::Or": [{"Condition": "HasAlarmEmail"}, {"Condition": "HasAlarmTopic"}]}
    return {"HasBudget": {"Fn::And": [{"Fn::Not": [{"Fn::Equals": [ref(BUDGET), 0]}]}, told]}}


def _if(condition: str, value: Part) -> Part:
    """Leave a value out unless a condition holds."""
    return {"Fn::If": [condition, value, ref("AWS::NoValue")]}
