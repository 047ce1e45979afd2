"""Finds objects in images.

`training/training.py` runs these stages: 0 heads for proposed boxes, 1 dense heads, 2 features of
crops, 3 trials of methods such as the second look (`inference/second_look.py`), 4 a review of the
finished model. `training/finish.py` makes artifact and card.
"""
