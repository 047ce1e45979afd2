"""Holds the texts of generated tables. All names are invented."""

from __future__ import annotations

NAMES = (
    "Kelby", "Orrin Bay", "Saltmere", "Tarn", "Upper Quillmoor", "Ferndale", "Port Alder", "Wexley",
    "North Harbour", "Ashdown", "Bracken Hill", "Coldwater", "Dunmore", "Eastgate", "Fallow End",
)  # fmt: skip
LONG = (
    "Repairs of harbour walls and of the northern pier", "Boats that were registered in spring",
    "Persons who answered all questions of the second part", "Cost of delivery to remote places",
    "Stones replaced since the first inspection", "Members present at more than half of meetings",
    "Samples with a value above the limit after treatment", "Working hours without holidays",
)  # fmt: skip
HEADS = (
    "Total", "Share", "Year", "Mean", "Units", "Price", "Boats", "Cost", "Change", "Region", "Code",
    "Hours", "Rate", "Class", "Count", "Weight", "Score", "Length", "Owner", "State",
)  # fmt: skip
LONG_HEADS = (
    "Number of boats", "Mean length (m)", "Share of total", "Cost per unit", "Change since 2019",
    "Hours per week", "Place of origin", "Date of entry", "Price without tax", "Standard error",
)  # fmt: skip
GROUPS = ("Summer", "Winter", "Before treatment", "After treatment", "2021", "2022", "All", "Men")
SECTIONS = ("Northern district", "Southern district", "Private owners", "Companies", "Other")
NOTES = (
    "* Without boats of visitors.", "Source: registry of the harbour office.",
    "Values are means; standard deviations in brackets.", "n.a. = not available",
)  # fmt: skip
SHORT = ("yes", "no", "open", "closed", "oak", "pine", "sound", "weak", "Ms Winslow", "Mr Orr")
UNITS = ("kg", "m", "%", "tons", "hours", "n", "crowns", "mean", "per head")
