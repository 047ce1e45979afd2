"""The budget that warns of costs before the bill, if alarms have a receiver."""

from __future__ import annotations

from infra.template.names import Part, ref, sub

# Parameter with the amount of the budget.
BUDGET = "MonthlyBudget"
# Kinds of costs that are compared with the budget, and the percentage that notifies.
NOTICES = (("ACTUAL", 80), ("FORECASTED", 100))


def budget() -> Part:
    """Return the budget of the whole account.

    A budget for one stage would need a tag that the user has to activate in Billing first.
    """
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
                    # A budget belongs to no region, but a stage does, so its name contains the
                    # region.
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
    """Return the condition that is true if a budget and a receiver are configured."""
    has_receiver = {"Fn::Or": [{"Condition": "HasAlarmEmail"}, {"Condition": "HasAlarmTopic"}]}
    return {
        "HasBudget": {"Fn::And": [{"Fn::Not": [{"Fn::Equals": [ref(BUDGET), 0]}]}, has_receiver]}
    }


def _if(condition: str, value: Part) -> Part:
    """Return a value that is present only if a condition holds."""
    return {"Fn::If": [condition, value, ref("AWS::NoValue")]}
