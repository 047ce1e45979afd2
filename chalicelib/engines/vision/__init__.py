"""Learns from pictures: frozen networks give features, heads on them are trained step by step.

In the order in which things happen: `registry` picks the engine; `backbone` and the extractors turn
pictures into features; `features` keeps them; `similarity` finds near-duplicates before the split;
`linear_head` trains for `classification` and `multi_label` (training, pipeline, fit, linear), and
`detection` in its own stages (views, head, training, inference, evaluation, report); `checkpoint`
saves a training between two steps. `prebuilt` answers without training.
"""
